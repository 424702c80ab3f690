import { Interaction, announce, create } from "./base.js";
import { makeDraggable } from "./drag.js";
import { words } from "./words.js";

/** The base of interactions in which two of the same things are paired. Parts have an id, a name, limits and a button. */
export class PairingInteraction extends Interaction {
  parts = [];
  pairs = [];
  #held = null;
  #list;

  /** Takes the identifiers, limits and groups from elements. */
  addParts(elements, controlOf) {
    this.parts = elements.map((element, at) => {
      const part = {
        id: element.getAttribute("identifier"),
        max: Number(element.getAttribute("match-max") ?? 0),
        min: Number(element.getAttribute("match-min") ?? 0),
        group: (element.getAttribute("match-group") ?? "").split(/\s+/).filter(Boolean),
      };
      part.control = controlOf(element, part, at);
      part.control.addEventListener("click", () => this.#choose(part));
      return part;
    });
    this.#list = create("ul", { class: "qti-pairs", "aria-label": words.pairs });
    this.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.#held) return;
      event.preventDefault();
      const part = this.#held;
      this.#held = null;
      this.render();
      announce(words.putBack(part.name));
    });
    return this.#list;
  }

  /** Lets a part be dragged onto another. */
  makeDraggable(part) {
    makeDraggable(
      part.control,
      () => {
        if (this.isDisabled || !this.#hasRoom(part)) return false;
        this.#held = part;
        this.render();
        return true;
      },
      (target) => {
        const other = this.parts.find(({ control }) => control.contains(target));
        if (other && other !== part) return this.#choose(other);
        this.#held = null;
        this.render();
      },
    );
  }

  #uses(part) {
    return this.pairs.filter((pair) => pair.includes(part)).length;
  }

  #hasRoom(part) {
    return part.max === 0 || this.#uses(part) < part.max;
  }

  #choose(part) {
    if (this.isDisabled) return;
    this.show("");
    if (this.#held === part) {
      this.#held = null;
      this.render();
      announce(words.putBack(part.name));
      return;
    }
    if (!this.#hasRoom(part)) return this.show(words.usedUp(part.name));
    if (!this.#held) {
      this.#held = part;
      this.render();
      announce(words.chosenForPair(part.name));
      return;
    }
    const first = this.#held;
    const allows = (a, b) => a.group.length === 0 || a.group.includes(b.id) || a.group.some((name) => b.group.includes(name));
    if (!allows(first, part) || !allows(part, first)) return this.show(words.doesNotFit(first.name, part.name));
    if (this.pairs.some((pair) => pair.includes(first) && pair.includes(part))) return this.show(words.pairedAlready);
    const max = this.number("max-associations", 1);
    if (max > 0 && this.pairs.length >= max) return this.show(words.atMostPairs(max));
    this.pairs = [...this.pairs, [first, part]];
    this.#held = null;
    this.changed();
    this.render();
    announce(words.paired(first.name, part.name));
  }

  /** Shows the pairs and what is chosen. */
  render() {
    for (const part of this.parts) {
      part.control.setAttribute("aria-pressed", String(this.#held === part));
      part.control.classList.toggle("qti-used", !this.#hasRoom(part));
    }
    this.#list.replaceChildren(
      ...this.pairs.map(([a, b], at) => {
        const remove = create("button", { type: "button", class: "qti-remove", "aria-label": words.removePair(a.name, b.name) }, "×");
        remove.disabled = this.isDisabled;
        remove.addEventListener("click", () => {
          this.pairs = this.pairs.filter((_, other) => other !== at);
          this.changed();
          this.render();
          announce(words.pairRemoved(a.name, b.name));
          (this.#list.querySelectorAll("button")[Math.max(at - 1, 0)] ?? a.control).focus();
        });
        return create("li", {}, create("span", {}, words.pair(a.name, b.name)), remove);
      }),
    );
    this.#list.hidden = this.pairs.length === 0;
  }

  get value() {
    return this.response(this.pairs.map(([a, b]) => `${a.id} ${b.id}`));
  }

  set value(response) {
    const find = (name) => this.parts.find(({ id }) => id === name);
    this.pairs = Interaction.values(response)
      .map((pair) => pair.split(" ").map(find))
      .filter(([a, b]) => a && b);
    this.#held = null;
    this.render();
  }

  disable() {
    super.disable();
    this.render();
  }

  problem() {
    const min = this.number("min-associations");
    if (this.pairs.length < min) return this.getAttribute("data-min-selections-message") || words.pairAtLeast(min);
    const unused = this.parts.find((part) => this.#uses(part) < part.min);
    return unused ? words.useAtLeast(unused.name, unused.min) : "";
  }
}

/** Pairs among choices. */
export class AssociateInteraction extends PairingInteraction {
  build() {
    this.nameGroup("group", words.pairHint, words.pairs);
    const bank = create("div", { class: "qti-bank", role: "group", "aria-label": words.bank });
    const choices = [...this.querySelectorAll(":scope > qti-simple-associable-choice")];
    const list = this.addParts(choices, (choice, part) => {
      part.name = this.nameOf(choice);
      const button = create("button", { type: "button", class: "qti-token" }, ...choice.childNodes);
      choice.remove();
      bank.append(button);
      return button;
    });
    this.append(bank, list);
    for (const part of this.parts) this.makeDraggable(part);
    this.render();
  }
}
