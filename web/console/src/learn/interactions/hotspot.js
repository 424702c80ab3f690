import { Interaction, announce, create } from "./base.js";
import { PairingInteraction } from "./associate.js";
import { checked, toggle } from "./hottext.js";
import { Picture, middleOf } from "./picture.js";
import { howMany, words } from "./words.js";

/** One or some places of a picture. */
export class HotspotInteraction extends Interaction {
  #parts;

  build() {
    const max = this.number("max-choices", 1);
    this.nameGroup("group", max === 1 ? words.hotspotHint : howMany(this.number("min-choices"), max), words.spots);
    const choices = [...this.querySelectorAll(":scope > qti-hotspot-choice")];
    this.#parts = new Picture(this, choices).addHotspots(choices, "checkbox");
    for (const part of this.#parts) {
      part.setAttribute("aria-checked", "false");
      part.addEventListener("click", () => this.isDisabled || toggle(this, this.#parts, part, max));
    }
  }

  get value() {
    return this.response(checked(this.#parts).map((part) => part.dataset.identifier));
  }

  set value(response) {
    const chosen = Interaction.values(response);
    for (const part of this.#parts) part.setAttribute("aria-checked", String(chosen.includes(part.dataset.identifier)));
  }

  problem() {
    const min = this.number("min-choices");
    return checked(this.#parts).length < min ? this.getAttribute("data-min-selections-message") || words.atLeast(min) : "";
  }
}

/** Places of a picture in an order: the first that is chosen is number one. */
export class GraphicOrderInteraction extends Interaction {
  #parts;
  #order = [];

  build() {
    this.nameGroup("group", words.graphicOrderHint, words.spots);
    const choices = [...this.querySelectorAll(":scope > qti-hotspot-choice")];
    const picture = new Picture(this, choices);
    this.#parts = picture.addHotspots(choices, "button");
    for (const part of this.#parts) {
      part.addEventListener("click", () => this.isDisabled || this.#choose(part));
      part.dataset.name = part.getAttribute("aria-label");
      const [badge, text] = [create("svg:circle", { class: "qti-badge", r: 13 }), create("svg:text", { class: "qti-badge-text" })];
      const placeBadge = () => {
        const [x, y] = middleOf(part);
        for (const [name, value] of Object.entries({ cx: x, cy: y })) badge.setAttribute(name, value);
        for (const [name, value] of Object.entries({ x, y })) text.setAttribute(name, value);
      };
      placeBadge();
      picture.onResize(placeBadge);
      part.append(badge, text);
    }
    this.#render();
  }

  #choose(part) {
    const at = this.#order.indexOf(part);
    const max = this.number("max-choices");
    if (at < 0 && max > 0 && this.#order.length >= max) {
      this.show(this.getAttribute("data-max-selections-message") || words.atMost(max));
      return;
    }
    this.#order = at < 0 ? [...this.#order, part] : this.#order.filter((other) => other !== part);
    this.changed();
    this.#render();
    announce(at < 0 ? words.numbered(part.dataset.name, this.#order.length) : words.notNumbered(part.dataset.name));
  }

  #render() {
    for (const part of this.#parts) {
      const at = this.#order.indexOf(part);
      part.setAttribute("aria-pressed", String(at >= 0));
      part.setAttribute("aria-label", at < 0 ? part.dataset.name : words.numbered(part.dataset.name, at + 1));
      part.lastElementChild.textContent = at < 0 ? "" : String(at + 1);
    }
  }

  get value() {
    return this.#order.length > 0 ? this.#order.map((part) => part.dataset.identifier) : null;
  }

  set value(response) {
    const find = (name) => this.#parts.find((part) => part.dataset.identifier === name);
    this.#order = Interaction.values(response).map(find).filter(Boolean);
    this.#render();
  }

  problem() {
    // Without a minimum, all places are put into an order.
    const min = this.number("min-choices", this.#parts.length);
    const isStarted = this.#order.length > 0 || this.hasAttribute("min-choices");
    return isStarted && this.#order.length < min ? this.getAttribute("data-min-selections-message") || words.placeAtLeast(min) : "";
  }
}

/** Pairs among places of a picture, drawn as lines. */
export class GraphicAssociateInteraction extends PairingInteraction {
  #lines = create("svg:g", { class: "qti-lines" });

  build() {
    this.nameGroup("group", words.pairHint, words.pairs);
    const spots = [...this.querySelectorAll(":scope > qti-associable-hotspot")];
    const picture = new Picture(this, spots);
    const controls = picture.addHotspots(spots, "button");
    picture.overlay.append(this.#lines);
    picture.onResize(() => this.render());
    const list = this.addParts(spots, (_, part, at) => {
      part.name = controls[at].getAttribute("aria-label");
      return controls[at];
    });
    this.append(list);
    this.render();
  }

  render() {
    super.render();
    const lines = this.pairs.map((pair) => {
      const [[x1, y1], [x2, y2]] = pair.map(({ control }) => middleOf(control));
      return create("svg:line", { x1, y1, x2, y2 });
    });
    this.#lines.replaceChildren(...lines);
  }
}
