import { Interaction, create, newId } from "./base.js";
import { words } from "./words.js";

/** One of a list inside a line of text. */
export class InlineChoiceInteraction extends Interaction {
  #select;

  build() {
    const label = this.querySelector(":scope > qti-label");
    const options = [...this.querySelectorAll(":scope > qti-inline-choice")].map((choice) =>
      create("option", { value: choice.getAttribute("identifier") }, this.nameOf(choice)),
    );
    const prompt = this.getAttribute("data-prompt") || words.choose;
    this.#select = create("select", {}, create("option", { value: "" }, prompt), ...options);
    if (label) {
      label.id ||= newId();
      this.#select.setAttribute("aria-labelledby", label.id);
    } else {
      nameBlank(this, this.#select);
    }
    for (const choice of this.querySelectorAll(":scope > qti-inline-choice")) choice.remove();
    this.append(this.#select);
    this.#select.addEventListener("change", () => this.changed());
  }

  get value() {
    return this.#select.value || null;
  }

  set value(response) {
    this.#select.value = Interaction.values(response)[0] ?? "";
  }

  problem() {
    const isRequired = this.getAttribute("required") === "true" || this.number("min-choices") > 0;
    return isRequired && !this.value ? words.chooseOne : "";
  }
}

const BLANKS = "qti-text-entry-interaction, qti-inline-choice-interaction";

/** Names the control of a blank by its place in the item; its sentence describes it. */
export function nameBlank(interaction, control) {
  const item = interaction.closest(".qti-item") ?? document;
  const blanks = [...item.querySelectorAll(BLANKS)];
  control.setAttribute("aria-label", words.answerField(blanks.indexOf(interaction) + 1, blanks.length));
  const sentence = interaction.closest("p, li, td, th, dd, h2, h3, h4, h5, h6, caption, div:not(.qti-item)");
  if (!sentence || sentence.textContent.trim() === "") return;
  sentence.id ||= newId();
  control.setAttribute("aria-describedby", sentence.id);
}
