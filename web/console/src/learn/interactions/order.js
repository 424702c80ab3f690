import { Interaction, announce, create } from "./base.js";
import { makeDraggable } from "./drag.js";
import { words } from "./words.js";

const STEPS = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };

/**
 * A list brought into an order. A choice is picked up with a tap, Enter or the space bar; arrow keys move it, and a tap on
 * another choice puts it there. With `min-choices` or `max-choices` only some choices are put into the list.
 */
export class OrderInteraction extends Interaction {
  #parts = [];
  #list;
  #bank;
  #held = null;
  /** The order before the held choice was moved. */
  #before = [];
  #isTouched = false;

  build() {
    const isPartial = this.number("min-choices") > 0 || this.number("max-choices") > 0;
    this.nameGroup("group", isPartial ? words.orderSomeHint : words.orderHint, words.order);
    if (this.getAttribute("orientation") === "horizontal") this.classList.add("qti-orientation-horizontal");
    this.#list = create("div", { class: "qti-sequence", role: "list", "aria-label": words.order });
    for (const choice of this.querySelectorAll(":scope > qti-simple-choice")) {
      const name = this.nameOf(choice);
      const handle = create("span", { class: "qti-grip", "aria-hidden": "true" });
      const button = create("button", { type: "button", class: "qti-token" }, handle, create("span", {}, ...choice.childNodes));
      const item = create("div", { class: "qti-step", role: "listitem" }, button);
      const part = { id: choice.getAttribute("identifier"), name, button, item };
      choice.remove();
      button.addEventListener("click", () => this.#tap(part));
      makeDraggable(button, () => this.#pickUp(part), (target) => this.#drop(part, target), handle);
      this.#parts.push(part);
    }
    this.append(this.#list);
    if (isPartial) {
      this.#bank = create("div", { class: "qti-bank", role: "group", "aria-label": words.bank });
      this.#list.before(this.#bank);
    }
    (this.#bank ?? this.#list).append(...this.#parts.map(({ item }) => item));
    this.addEventListener("keydown", (event) => this.#key(event));
    this.#render();
  }

  get #order() {
    return [...this.#list.children].map((item) => this.#parts.find((part) => part.item === item)).filter(Boolean);
  }

  #isInBank(part) {
    return part.item.parentElement === this.#bank;
  }

  #tap(part) {
    if (this.isDisabled) return;
    if (this.#held === part) return this.#putDown();
    if (this.#isInBank(part)) {
      this.#held = null;
      return this.#add(part);
    }
    if (!this.#held) return void this.#pickUp(part);
    const moved = this.#held;
    this.#moveTo(this.#order.indexOf(part));
    this.#putDown();
    moved.button.focus();
  }

  #add(part, at = this.#order.length) {
    const max = this.number("max-choices");
    if (max > 0 && this.#order.length >= max) {
      this.show(this.getAttribute("data-max-selections-message") || words.atMost(max));
      return;
    }
    this.#list.insertBefore(part.item, this.#list.children[at] ?? null);
    this.#touched();
    part.button.focus();
    announce(words.atPlace(part.name, this.#order.indexOf(part) + 1, this.#order.length));
  }

  #remove(part) {
    this.#held = null;
    this.#bank.append(part.item);
    this.#touched();
    part.button.focus();
    announce(words.takenOut(part.name, words.order));
  }

  #touched() {
    this.#isTouched = true;
    this.changed();
    this.#render();
  }

  #pickUp(part) {
    if (this.isDisabled) return false;
    this.#held = part;
    this.#before = this.#order;
    this.#render();
    announce(words.pickedUpToMove(part.name));
    return true;
  }

  #putDown() {
    const part = this.#held;
    this.#held = null;
    this.#touched();
    announce(words.atPlace(part.name, this.#order.indexOf(part) + 1, this.#order.length));
  }

  #cancel() {
    const part = this.#held;
    this.#held = null;
    if (!this.#isInBank(part)) this.#list.append(...this.#before.map(({ item }) => item));
    this.#render();
    part.button.focus();
    announce(words.putBack(part.name));
  }

  #moveTo(at) {
    const order = this.#order.filter((part) => part !== this.#held);
    order.splice(at, 0, this.#held);
    this.#list.append(...order.map(({ item }) => item));
    this.#render();
  }

  /** The end of a drag. */
  #drop(part, target) {
    if (this.#held !== part) return;
    const over = this.#order.find(({ item }) => item.contains(target));
    if (this.#bank?.contains(target)) return this.#isInBank(part) ? this.#cancel() : this.#remove(part);
    if (this.#isInBank(part)) {
      this.#held = null;
      this.#render();
      if (this.#list.contains(target)) this.#add(part, over ? this.#order.indexOf(over) : undefined);
      return;
    }
    if (!over) return this.#cancel();
    this.#moveTo(this.#order.indexOf(over));
    this.#putDown();
  }

  #key(event) {
    const part = this.#parts.find(({ button }) => button === event.target);
    if (!part || this.isDisabled) return;
    if (event.key === "Escape" && this.#held) {
      event.preventDefault();
      this.#cancel();
    } else if (event.key in STEPS && this.#held) {
      event.preventDefault();
      const isReversed = getComputedStyle(this).direction === "rtl" && /Left|Right/.test(event.key);
      const from = this.#order.indexOf(this.#held);
      const to = Math.min(Math.max(from + STEPS[event.key] * (isReversed ? -1 : 1), 0), this.#order.length - 1);
      this.#moveTo(to);
      this.#held.button.focus();
      announce(words.atPlace(this.#held.name, to + 1, this.#order.length));
    } else if (["Delete", "Backspace"].includes(event.key) && this.#bank && !this.#isInBank(part)) {
      event.preventDefault();
      this.#remove(part);
    }
  }

  #render() {
    const order = this.#order;
    this.classList.toggle("qti-holding", this.#held !== null);
    for (const part of this.#parts) {
      const at = order.indexOf(part);
      part.item.setAttribute("role", at < 0 ? "presentation" : "listitem");
      part.button.setAttribute("aria-pressed", String(this.#held === part));
      part.button.setAttribute("aria-label", at < 0 ? part.name : words.atPlace(part.name, at + 1, order.length));
    }
    this.#list.classList.toggle("qti-empty", order.length === 0);
    // A list without members has no role that says so.
    if (order.length > 0) this.#list.setAttribute("role", "list");
    else this.#list.setAttribute("role", "group");
  }

  /** The order that is shown may be the answer, so it becomes the answer when the student goes on. */
  askForAnswer() {
    if (this.#order.length === 0) return super.askForAnswer();
    this.#touched();
    this.show(words.checkAgain);
  }

  get value() {
    return this.#isTouched && this.#order.length > 0 ? this.#order.map(({ id }) => id) : null;
  }

  set value(response) {
    const chosen = Interaction.values(response).map((id) => this.#parts.find((part) => part.id === id)).filter(Boolean);
    this.#held = null;
    this.#isTouched = chosen.length > 0;
    const rest = this.#parts.filter((part) => !chosen.includes(part));
    this.#list.append(...chosen.map(({ item }) => item));
    (this.#bank ?? this.#list).append(...rest.map(({ item }) => item));
    this.#render();
  }

  problem() {
    const min = this.number("min-choices");
    if (this.#bank && this.#order.length < min) return this.getAttribute("data-min-selections-message") || words.placeAtLeast(min);
    return "";
  }
}
