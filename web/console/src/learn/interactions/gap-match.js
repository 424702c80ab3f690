import { create } from "./base.js";
import { PlacingInteraction } from "./placing.js";
import { words } from "./words.js";

/** Texts or pictures into the gaps of a text. */
export class GapMatchInteraction extends PlacingInteraction {
  build() {
    this.nameGroup("group", words.placeHint, words.gaps);
    const tokens = [...this.querySelectorAll(":scope > :is(qti-gap-text, qti-gap-img)")];
    const bank = this.addTokens(tokens, words.bank);
    const text = create("div", { class: "qti-text" });
    const head = [...this.children].filter((child) => child.matches("qti-prompt, .qti-hint"));
    text.append(...[...this.childNodes].filter((node) => !head.includes(node)));
    this.append(text);
    this.placeBank(bank, text);
    const gaps = [...text.querySelectorAll("qti-gap")];
    this.addPlaces(gaps.map((element, at) => ({ element, part: element, name: words.gap(at + 1, gaps.length) })));
  }
}
