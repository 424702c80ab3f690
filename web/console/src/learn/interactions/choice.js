import { Interaction, create, newId } from "./base.js";
import { howMany, words } from "./words.js";

/** The letters and numbers before choices, by the classes of the shared vocabulary. */
const LABELS = {
  "qti-labels-decimal": (at) => String(at + 1),
  "qti-labels-lower-alpha": (at) => String.fromCharCode(97 + at),
  "qti-labels-upper-alpha": (at) => String.fromCharCode(65 + at),
  "qti-labels-cjk-ideographic": (at) => "一二三四五六七八九十"[at] ?? String(at + 1),
};
const SUFFIXES = { "qti-labels-suffix-none": "", "qti-labels-suffix-parenthesis": ")" };

/** One or some of a list: radio buttons or checkboxes. */
export class ChoiceInteraction extends Interaction {
  build() {
    const max = this.number("max-choices", 1);
    const isRadio = max === 1 || this.getAttribute("cardinality") === "single";
    this.nameGroup(isRadio ? "radiogroup" : "group", isRadio ? "" : howMany(this.number("min-choices"), max));
    if (this.getAttribute("orientation") === "horizontal") this.classList.add("qti-orientation-horizontal");
    const name = newId();
    const list = create("div", { class: "qti-choices" });
    const classes = [...this.classList];
    const labelOf = LABELS[classes.find((own) => own in LABELS)];
    const suffix = SUFFIXES[classes.find((own) => own in SUFFIXES)] ?? ".";
    for (const [at, choice] of this.querySelectorAll(":scope > qti-simple-choice").entries()) {
      if (labelOf) choice.prepend(create("span", { class: "qti-letter" }, `${labelOf(at)}${suffix} `));
      const input = create("input", { type: isRadio ? "radio" : "checkbox", name, id: newId(), value: choice.getAttribute("identifier") });
      choice.append(input, create("label", { for: input.id }, ...choice.childNodes));
      list.append(choice);
    }
    this.append(list);
    this.addEventListener("change", ({ target }) => this.#choose(target, isRadio ? 1 : max));
  }

  get #inputs() {
    return [...this.querySelectorAll(":scope > .qti-choices > qti-simple-choice > input")];
  }

  #choose(input, max) {
    if (max > 0 && this.#inputs.filter(({ checked }) => checked).length > max) {
      input.checked = false;
      this.show(this.getAttribute("data-max-selections-message") || words.atMost(max));
      return;
    }
    this.changed();
  }

  get value() {
    return this.response(this.#inputs.filter(({ checked }) => checked).map(({ value }) => value));
  }

  set value(response) {
    const chosen = Interaction.values(response);
    for (const input of this.#inputs) input.checked = chosen.includes(input.value);
  }

  problem() {
    const min = this.number("min-choices");
    if (Interaction.values(this.value).length >= min) return "";
    return this.getAttribute("data-min-selections-message") || (this.getAttribute("role") === "radiogroup" ? words.chooseOne : words.atLeast(min));
  }
}
