// Things that are put into places: the base of gap-match, match and graphic-gap-match. A thing is picked up with a tap,
// Enter or the space bar, and put down in the same way on a place; dragging does both.
import { Interaction, announce, create } from "./base.js";
import { makeDraggable } from "./drag.js";
import { words } from "./words.js";

/** A thing that is put into places. */
class Token {
  constructor(element, name) {
    this.id = element.getAttribute("identifier");
    this.max = Number(element.getAttribute("match-max") ?? 0);
    this.min = Number(element.getAttribute("match-min") ?? 0);
    this.group = groupOf(element);
    this.name = name;
    this.content = [...element.childNodes];
  }

  /** The content for one more button. */
  copy() {
    const copies = this.content.map((node) => node.cloneNode(true));
    for (const copy of copies) {
      copy.removeAttribute?.("id");
      copy.querySelectorAll?.("[id]").forEach((part) => part.removeAttribute("id"));
    }
    return copies;
  }
}

const groupOf = (element) => (element.getAttribute("match-group") ?? "").split(/\s+/).filter(Boolean);

export class PlacingInteraction extends Interaction {
  /** Pairs at most where the item says nothing; 0 is any number. */
  defaultMax = 0;
  #tokens = [];
  #places = [];
  /** Each pair is of a token and a place. */
  #pairs = [];
  /** The token that is picked up, and the place from which it was taken. */
  #held = null;
  #bank;
  #bankParts = new Map();

  /** Takes the elements out of the page and shows them in a bank. */
  addTokens(elements, label) {
    this.#tokens = elements.map((element) => new Token(element, this.nameOf(element)));
    this.#bank = create("div", { class: "qti-bank", role: "group", "aria-label": label });
    for (const element of elements) element.remove();
    for (const token of this.#tokens) {
      const part = this.#button(token, null);
      this.#bankParts.set(token, part);
      this.#bank.append(part);
    }
    return this.#bank;
  }

  /** Puts the bank beside the part with the places, where the classes of the shared vocabulary want it. */
  placeBank(bank, part) {
    if (this.matches(".qti-choices-bottom, .qti-choices-right")) part.after(bank);
    else part.before(bank);
    if (this.hasAttribute("data-choices-container-width")) bank.style.width = `${this.number("data-choices-container-width")}px`;
  }

  /** Makes elements the places. `part` is where a place shows what is in it. */
  addPlaces(elements) {
    this.#places = elements.map(({ element, part, name }, at) => ({
      id: element.getAttribute("identifier"),
      // A gap takes one thing; 0 is any number.
      max: Number(element.getAttribute("match-max") ?? (element.localName === "qti-gap" ? 1 : 0)),
      min: Math.max(Number(element.getAttribute("match-min") ?? 0), element.getAttribute("required") === "true" ? 1 : 0),
      group: groupOf(element),
      name: name || words.place(at + 1),
      part,
    }));
    for (const place of this.#places) {
      place.part.classList.add("qti-place");
      place.part.setAttribute("role", "group");
      place.part.setAttribute("aria-label", place.name);
      place.drop = create("button", { type: "button", class: "qti-drop" });
      place.drop.addEventListener("click", () => this.#putInto(place));
      place.part.append(place.drop);
    }
    this.addEventListener("keydown", (event) => this.#key(event));
    this.#render();
  }

  #button(token, place) {
    const part = create("button", { type: "button", class: "qti-token" }, ...token.copy());
    part.addEventListener("click", () => {
      if (this.#held && this.#held.token !== token && place) this.#putInto(place);
      else if (this.#held?.token === token && this.#held.from === place) this.#putBack();
      else this.#pickUp(token, place);
    });
    makeDraggable(
      part,
      () => !this.isDisabled && this.#canTake(token, place) && (this.#pickUp(token, place), true),
      (target) => {
        const found = this.#places.find(({ part: placePart }) => placePart.contains(target));
        if (found) this.#putInto(found);
        else if (place && target && this.contains(target)) this.#takeOut(token, place);
        else this.#putBack();
      },
    );
    return part;
  }

  #uses(token) {
    return this.#pairs.filter(([used]) => used === token).length;
  }

  #inside(place) {
    return this.#pairs.filter(([, at]) => at === place).map(([token]) => token);
  }

  #canTake(token, place) {
    return place !== null || token.max === 0 || this.#uses(token) < token.max;
  }

  /** Whether the groups of both allow the pair. */
  #fits(token, place) {
    const allows = (group, other) => group.length === 0 || group.includes(other.id) || group.some((name) => other.group.includes(name));
    return allows(token.group, place) && allows(place.group, token) && !this.#pairs.some(([a, b]) => a === token && b === place);
  }

  #pickUp(token, from) {
    if (this.isDisabled) return;
    if (!this.#canTake(token, from)) {
      this.show(words.usedUp(token.name));
      return;
    }
    this.show("");
    this.#held = { token, from };
    this.#render();
    announce(words.pickedUp(token.name));
  }

  #putBack() {
    if (!this.#held) return;
    const { token, from } = this.#held;
    this.#held = null;
    this.#render();
    this.#focusOn(token, from);
    announce(words.putBack(token.name));
  }

  #takeOut(token, place) {
    this.#pairs = this.#pairs.filter(([a, b]) => a !== token || b !== place);
    this.#held = null;
    this.changed();
    this.#render();
    this.#bankParts.get(token).focus();
    announce(words.takenOut(token.name, place.name));
  }

  #putInto(place) {
    if (this.isDisabled) return;
    if (!this.#held) {
      announce(words.pickFirst);
      return;
    }
    const { token, from } = this.#held;
    if (from === place) return this.#putBack();
    if (!this.#fits(token, place)) {
      this.show(words.doesNotFit(token.name, place.name));
      return;
    }
    let pairs = this.#pairs.filter(([a, b]) => a !== token || b !== from);
    const there = this.#inside(place);
    // A place for one thing gives back what it had.
    if (place.max === 1) pairs = pairs.filter(([, at]) => at !== place);
    else if (place.max > 0 && there.length >= place.max) {
      this.show(words.placeIsFull(place.name, place.max));
      return;
    }
    const max = this.number("max-associations", this.defaultMax);
    if (max > 0 && pairs.length >= max) {
      this.show(words.atMostPlaced(max));
      return;
    }
    pairs.push([token, place]);
    this.#pairs = pairs;
    this.#held = null;
    this.changed();
    this.#render();
    this.#focusOn(token, place);
    announce(words.putInto(token.name, place.name));
  }

  #focusOn(token, place) {
    const part = place ? place.part.querySelector(`[data-token="${CSS.escape(token.id)}"]`) : this.#bankParts.get(token);
    part?.focus();
  }

  #key(event) {
    const { key, target } = event;
    if (key === "Escape" && this.#held) {
      event.preventDefault();
      this.#putBack();
    } else if ((key === "Delete" || key === "Backspace") && target.dataset.place && !this.isDisabled) {
      event.preventDefault();
      const place = this.#places.find(({ id }) => id === target.dataset.place);
      const token = this.#tokens.find(({ id }) => id === target.dataset.token);
      this.#takeOut(token, place);
    } else if (key.startsWith("Arrow") && this.#held) {
      event.preventDefault();
      // A full place is reached through what is in it, which it gives back.
      const drops = this.#places.map(({ drop, part }) => (drop.hidden ? part.querySelector(".qti-token") : drop)).filter(Boolean);
      const at = drops.indexOf(target);
      const step = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
      drops.at(at < 0 ? (step > 0 ? 0 : -1) : (at + step) % drops.length)?.focus();
    }
  }

  #render() {
    this.classList.toggle("qti-holding", this.#held !== null);
    for (const [token, part] of this.#bankParts) {
      const isHeld = this.#held?.token === token && this.#held.from === null;
      part.setAttribute("aria-pressed", String(isHeld));
      const isUsed = !this.#canTake(token, null);
      part.classList.toggle("qti-used", isUsed);
      part.setAttribute("aria-disabled", String(isUsed || this.isDisabled));
      part.setAttribute("aria-label", isUsed ? words.used(token.name) : token.name);
    }
    for (const place of this.#places) {
      const inside = this.#inside(place);
      for (const old of place.part.querySelectorAll(":scope > .qti-token")) old.remove();
      for (const token of inside) {
        const part = this.#button(token, place);
        part.dataset.token = token.id;
        part.dataset.place = place.id;
        part.setAttribute("aria-pressed", String(this.#held?.token === token && this.#held.from === place));
        part.setAttribute("aria-label", words.inPlace(token.name, place.name));
        if (this.isDisabled) part.setAttribute("aria-disabled", "true");
        place.drop.before(part);
      }
      const isFull = place.max > 0 && inside.length >= place.max;
      place.part.classList.toggle("qti-filled", inside.length > 0);
      const isPossible = this.#held ? this.#fits(this.#held.token, place) && (!isFull || place.max === 1) : !isFull;
      place.drop.hidden = isFull || (this.isDisabled && inside.length > 0);
      place.drop.disabled = this.isDisabled;
      place.part.classList.toggle("qti-ready", this.#held !== null && isPossible);
      place.drop.setAttribute("aria-label", this.#held ? words.putHere(this.#held.token.name, place.name) : words.emptyPlace(place.name));
    }
  }

  get value() {
    return this.response(this.#pairs.map(([token, place]) => `${token.id} ${place.id}`));
  }

  set value(response) {
    const pairs = Interaction.values(response).map((pair) => pair.split(" "));
    const found = pairs.map(([a, b]) => [this.#tokens.find(({ id }) => id === a), this.#places.find(({ id }) => id === b)]);
    this.#pairs = found.filter(([token, place]) => token && place);
    this.#held = null;
    this.#render();
  }

  disable() {
    super.disable();
    this.#held = null;
    this.#render();
  }

  problem() {
    const min = this.number("min-associations");
    if (this.#pairs.length < min) return this.getAttribute("data-min-selections-message") || words.placeAtLeast(min);
    const open = this.#places.find((place) => this.#inside(place).length < place.min);
    if (open) return words.fill(open.name);
    const unused = this.#tokens.find((token) => this.#uses(token) < token.min);
    return unused ? words.useAtLeast(unused.name, unused.min) : "";
  }
}
