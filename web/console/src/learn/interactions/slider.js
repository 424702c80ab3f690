import { Interaction, create, newId } from "./base.js";
import { words } from "./words.js";

/** A number on a scale. It has no value until the student moves it. */
export class SliderInteraction extends Interaction {
  #input;
  #output;
  #isMoved = false;

  build() {
    const [lower, upper] = ["lower-bound", "upper-bound"].map((name) => Number(this.getAttribute(name)));
    const step = Number(this.getAttribute("step") ?? 1) || "any";
    this.nameGroup("group", "", words.slider);
    this.#input = create("input", { type: "range", min: lower, max: upper, step, id: newId() });
    for (const name of ["aria-labelledby", "aria-label"]) if (this.hasAttribute(name)) this.#input.setAttribute(name, this.getAttribute(name));
    const isVertical = this.getAttribute("orientation") === "vertical";
    if (isVertical) {
      this.classList.add("qti-vertical");
      this.#input.setAttribute("aria-orientation", "vertical");
    }
    // The browser turns the scale around in the other direction of writing.
    if (this.getAttribute("reverse") === "true") this.#input.dir = getComputedStyle(this).direction === "rtl" ? "ltr" : "rtl";
    this.#input.value = (lower + upper) / 2;
    this.#output = create("output", { for: this.#input.id });
    const ends = create("div", { class: "qti-scale", "aria-hidden": "true", dir: this.#input.dir || null });
    ends.append(...this.#labels(lower, upper, step).map((label) => create("span", {}, String(label))));
    this.append(create("div", { class: "qti-slider" }, this.#input, ends), this.#output);
    this.#input.addEventListener("input", () => this.#move());
    // Choosing the value that it shows is an answer too.
    this.#input.addEventListener("click", () => this.#isMoved || this.#move());
    this.#input.addEventListener("keydown", ({ key }) => (key === "Enter" || key === " ") && !this.#isMoved && this.#move());
    this.#render();
  }

  /** The numbers below the scale: its ends, or each step. */
  #labels(lower, upper, step) {
    const count = (upper - lower) / step;
    if (this.getAttribute("step-label") !== "true" || !(count <= 12)) return [lower, upper];
    return Array.from({ length: Math.floor(count) + 1 }, (_, at) => Number((lower + at * step).toPrecision(12)));
  }

  #move() {
    this.#isMoved = true;
    this.changed();
    this.#render();
  }

  #render() {
    this.classList.toggle("qti-unanswered", !this.#isMoved);
    this.#output.textContent = this.#isMoved ? this.#input.value : words.notAnswered;
    if (this.#isMoved) this.#input.removeAttribute("aria-valuetext");
    else this.#input.setAttribute("aria-valuetext", words.notAnswered);
  }

  /** The place that is shown may be the answer, so it becomes the answer when the student goes on. */
  askForAnswer() {
    this.#move();
    this.show(words.checkAgain);
  }

  get value() {
    return this.#isMoved ? Number(this.#input.value) : null;
  }

  set value(response) {
    const [value] = Interaction.values(response);
    this.#isMoved = value !== undefined;
    if (this.#isMoved) this.#input.value = value;
    this.#render();
  }
}
