import { create } from "./base.js";
import { Picture, nameOfSpot } from "./picture.js";
import { PlacingInteraction } from "./placing.js";
import { words } from "./words.js";

/** Texts or pictures onto places of a picture. */
export class GraphicGapMatchInteraction extends PlacingInteraction {
  build() {
    this.nameGroup("group", words.placeHint, words.spots);
    const spots = [...this.querySelectorAll(":scope > qti-associable-hotspot")];
    const tokens = [...this.querySelectorAll(":scope > :is(qti-gap-text, qti-gap-img)")];
    const bank = this.addTokens(tokens, words.bank);
    const picture = new Picture(this, spots);
    const places = spots.map((element, at) => {
      const part = create("div", { class: "qti-spot" });
      const place = () => picture.place(part, picture.rangeOf(element));
      place();
      picture.onResize(place);
      picture.stage.append(part);
      element.remove();
      return { element, part, name: nameOfSpot(element, at) };
    });
    picture.overlay.remove();
    this.placeBank(bank, picture.stage);
    this.addPlaces(places);
  }
}
