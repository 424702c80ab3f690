import { Interaction, create, newId } from "./base.js";
import { words } from "./words.js";

/** One of a list inside a line of text: a native list, or one of our own if choices have pictures or formulas. */
export class InlineChoiceInteraction extends Interaction {
  #value = "";
  #show;

  build() {
    const label = this.querySelector(":scope > qti-label");
    const choices = [...this.querySelectorAll(":scope > qti-inline-choice")];
    for (const choice of choices) choice.remove();
    const prompt = this.getAttribute("data-prompt") || words.choose;
    const isRich = choices.some((choice) => choice.querySelector("img, math, svg"));
    const control = isRich ? this.#buildList(choices, prompt) : this.#buildSelect(choices, prompt);
    if (label) {
      label.id ||= newId();
      control.setAttribute("aria-labelledby", label.id);
    } else {
      nameBlank(this, control);
    }
    this.#show();
  }

  #choose(value) {
    this.#value = value;
    this.#show();
    this.changed();
  }

  #buildSelect(choices, prompt) {
    const options = choices.map((choice) => create("option", { value: choice.getAttribute("identifier") }, this.nameOf(choice)));
    const select = create("select", {}, create("option", { value: "" }, prompt), ...options);
    this.append(select);
    this.#show = () => (select.value = this.#value);
    select.addEventListener("change", () => this.#choose(select.value));
    return select;
  }

  #buildList(choices, prompt) {
    const list = create("div", { class: "qti-list", role: "listbox", popover: "auto", id: newId(), "aria-label": words.choices });
    const popup = { "aria-haspopup": "listbox", "aria-expanded": "false", "aria-controls": list.id, popovertarget: list.id };
    const button = create("button", { type: "button", class: "qti-open", role: "combobox", ...popup });
    const options = choices.map((choice) => {
      const attributes = { role: "option", tabindex: "-1", "data-identifier": choice.getAttribute("identifier") };
      return create("div", { ...attributes, "aria-label": this.nameOf(choice) }, ...choice.childNodes);
    });
    list.append(...options);
    this.append(button, list);
    this.#show = () => {
      const chosen = options.find((option) => option.dataset.identifier === this.#value);
      for (const option of options) {
        option.setAttribute("aria-selected", String(option === chosen));
        // The list gives it the focus while it opens, so that no key is lost.
        option.toggleAttribute("autofocus", option === (chosen ?? options[0]));
      }
      button.replaceChildren(...(chosen ? [...chosen.childNodes].map((node) => node.cloneNode(true)) : [prompt]));
    };
    const pick = (option) => {
      list.hidePopover();
      this.#choose(option.dataset.identifier);
      button.focus();
    };
    list.addEventListener("beforetoggle", ({ newState }) => {
      button.setAttribute("aria-expanded", String(newState === "open"));
      const { left, bottom } = button.getBoundingClientRect();
      Object.assign(list.style, { left: `${left}px`, top: `${bottom + 4}px` });
    });
    list.addEventListener("click", ({ target }) => target.closest("[role=option]") && pick(target.closest("[role=option]")));
    list.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) options.at((options.indexOf(event.target) + step) % options.length).focus();
      else if (event.key === "Enter" || event.key === " ") pick(event.target);
      else return;
      event.preventDefault();
    });
    return button;
  }

  get value() {
    return this.#value || null;
  }

  set value(response) {
    this.#value = Interaction.values(response)[0] ?? "";
    this.#show();
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
