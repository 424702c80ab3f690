import { Interaction } from "./base.js";
import { howMany, words } from "./words.js";

/** One or some parts of a text. */
export class HottextInteraction extends Interaction {
  #parts;

  build() {
    const max = this.number("max-choices", 1);
    this.nameGroup("group", max === 1 ? words.hottextHint : howMany(this.number("min-choices"), max), words.choices);
    this.#parts = [...this.querySelectorAll("qti-hottext")];
    for (const part of this.#parts) {
      part.setAttribute("role", "checkbox");
      part.setAttribute("aria-checked", "false");
      part.setAttribute("aria-label", this.nameOf(part));
      part.tabIndex = 0;
    }
    const act = (event) => {
      const part = event.target.closest("qti-hottext");
      if (!part || this.isDisabled) return;
      event.preventDefault();
      toggle(this, this.#parts, part, max);
    };
    this.addEventListener("click", act);
    this.addEventListener("keydown", (event) => (event.key === " " || event.key === "Enter") && act(event));
  }

  get value() {
    return this.response(checked(this.#parts).map((part) => part.getAttribute("identifier")));
  }

  set value(response) {
    const chosen = Interaction.values(response);
    for (const part of this.#parts) part.setAttribute("aria-checked", String(chosen.includes(part.getAttribute("identifier"))));
  }

  problem() {
    const min = this.number("min-choices");
    return checked(this.#parts).length < min ? this.getAttribute("data-min-selections-message") || words.atLeast(min) : "";
  }
}

/** The parts with the role `checkbox` that are chosen. */
export const checked = (parts) => parts.filter((part) => part.getAttribute("aria-checked") === "true");

/** Chooses a part, or no longer. If only one may be chosen, it takes the place of another. */
export function toggle(interaction, parts, part, max) {
  const isChosen = part.getAttribute("aria-checked") === "true";
  const chosen = checked(parts);
  if (!isChosen && max > 1 && chosen.length >= max) {
    interaction.show(interaction.getAttribute("data-max-selections-message") || words.atMost(max));
    return;
  }
  if (!isChosen && max === 1) for (const other of chosen) other.setAttribute("aria-checked", "false");
  part.setAttribute("aria-checked", String(!isChosen));
  interaction.changed();
}
