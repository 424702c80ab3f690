import { Interaction, announce, create, newId } from "./base.js";
import { nameBlank } from "./inline-choice.js";
import { words } from "./words.js";

/** Signs that keyboards and copied texts have in place of a minus. */
const MINUS = /[−–]/g;
const NUMBERS = { integer: /^[-+]?\d+$/, float: /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/ };
/** The sign between thousands, and the decimal sign, in numbers of the page's language. */
const [GROUP, DECIMAL] = ["group", "decimal"].map(
  (type) => new Intl.NumberFormat(document.documentElement.lang || "en").formatToParts(-12345.6).find((part) => part.type === type)?.value ?? "",
);
/** A counter of characters is announced once for so many. */
const ANNOUNCED_CHARACTERS = 50;

/**
 * A number as the scoring API takes it. Signs between thousands are left out: those of the page's language, and spaces.
 * Where they cannot separate thousands, a comma and a point are both decimal points. A text that is still no number is
 * asked about.
 */
function numberIn(text) {
  const number = text
    .trim()
    .replace(MINUS, "-")
    .replace(/(?<=\d)[\s'’](?=\d{3}(\D|$))/g, "");
  const [whole, ...fraction] = number.split(DECIMAL);
  const groups = whole.replace(/^[-+]/, "").split(GROUP);
  const areGroups = groups.length > 1 && /^[1-9]\d{0,2}$/.test(groups[0]) && groups.slice(1).every((group) => /^\d{3}$/.test(group));
  if (areGroups && fraction.length <= 1) return [whole.replaceAll(GROUP, ""), ...fraction].join(".");
  return /^[-+]?\d*,\d+$/.test(number) ? number.replace(",", ".") : number;
}

/** A text as the scoring API takes it. */
class TextInteraction extends Interaction {
  get isNumber() {
    return this.getAttribute("base-type") in NUMBERS;
  }

  clean(text) {
    return this.isNumber ? numberIn(text) : text;
  }

  /** The reason why a text cannot be the answer; empty if it can. */
  problemOf(text) {
    const type = this.getAttribute("base-type");
    if (this.isNumber && this.number("base", 10) === 10 && !NUMBERS[type].test(text)) {
      return type === "integer" ? words.wholeNumber : words.number;
    }
    const mask = this.getAttribute("pattern-mask");
    if (!mask) return "";
    let pattern;
    try {
      pattern = new RegExp(`^(?:${mask})$`, "u");
    } catch {
      // The pattern is one of XML Schema that JavaScript does not have; the server checks it.
      return "";
    }
    return pattern.test(text) ? "" : this.getAttribute("data-patternmask-message") || words.otherForm;
  }
}

/** A short text inside a line. */
export class TextEntryInteraction extends TextInteraction {
  #input;

  build() {
    const type = this.getAttribute("base-type");
    const inputmode = type === "integer" ? "numeric" : type === "float" ? "decimal" : null;
    this.#input = create("input", {
      type: "text",
      size: Math.min(Math.max(this.number("expected-length", 8), 2), 40),
      inputmode: this.number("base", 10) === 10 ? inputmode : null,
      placeholder: this.getAttribute("placeholder-text"),
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
    });
    nameBlank(this, this.#input);
    this.append(this.#input);
    this.#input.addEventListener("input", () => {
      this.#input.removeAttribute("aria-invalid");
      this.changed();
    });
    this.#input.addEventListener("change", () => this.#check());
  }

  #check() {
    const message = this.problem();
    if (message) this.#input.setAttribute("aria-invalid", "true");
    this.show(message);
  }

  /** Without the spaces around it, which nobody sees. */
  clean(text) {
    return super.clean(text.trim());
  }

  get value() {
    const text = this.clean(this.#input.value);
    if (text === "") return null;
    if (this.getAttribute("cardinality") !== "record") return text;
    const number = NUMBERS.float.test(text) ? Number(text) : null;
    return { stringValue: text, floatValue: number, integerValue: Number.isInteger(number) ? number : null };
  }

  set value(response) {
    const [value] = Interaction.values(response);
    this.#input.value = value === undefined ? "" : String(value?.stringValue ?? value);
  }

  problem() {
    const text = this.clean(this.#input.value);
    return text === "" ? "" : this.problemOf(text);
  }
}

/** A long text, or several texts. */
export class ExtendedTextInteraction extends TextInteraction {
  #fields = [];
  #showCount = () => {};

  build() {
    const isSingle = ["single", "record"].includes(this.getAttribute("cardinality"));
    const max = isSingle ? 1 : Math.max(this.number("max-strings"), this.number("min-strings"), 1);
    const rows = this.number("expected-lines", max > 1 ? 1 : Math.ceil(this.number("expected-length", 300) / 60));
    for (let at = 1; at <= max; at += 1) {
      const field = create("textarea", { rows: Math.min(Math.max(rows, max > 1 ? 1 : 3), 20), placeholder: this.getAttribute("placeholder-text") });
      if (this.getAttribute("format") === "preformatted") field.classList.add("qti-preformatted");
      if (max > 1) field.setAttribute("aria-label", words.answer(at));
      this.#fields.push(field);
    }
    this.nameGroup("group", "", words.answerField(1, 1));
    if (max === 1) {
      for (const name of ["aria-labelledby", "aria-label"]) {
        if (this.hasAttribute(name)) this.#fields[0].setAttribute(name, this.getAttribute(name));
      }
    }
    this.append(...this.#fields);
    if (max === 1 && this.hasAttribute("expected-length")) this.#count(this.number("expected-length"));
    this.addEventListener("input", () => this.changed());
  }

  /** Shows how much is written. */
  #count(expected) {
    const [field] = this.#fields;
    const counter = create("p", { class: "qti-hint", id: newId() });
    const show = () => (counter.textContent = words.characters(field.value.length, expected));
    let announced = 0;
    field.setAttribute("aria-describedby", counter.id);
    field.addEventListener("input", () => {
      show();
      const reached = Math.floor(field.value.length / ANNOUNCED_CHARACTERS);
      if (reached !== announced) announce(counter.textContent);
      announced = reached;
    });
    show();
    this.append(counter);
    this.#showCount = show;
  }

  get value() {
    const texts = this.#fields.map(({ value }) => this.clean(value)).filter((text) => text.trim() !== "");
    if (this.getAttribute("cardinality") === "record") return texts.length > 0 ? { stringValue: texts[0] } : null;
    return this.response(texts);
  }

  set value(response) {
    const texts = Interaction.values(response);
    this.#fields.forEach((field, at) => (field.value = texts[at]?.stringValue ?? texts[at] ?? ""));
    this.#showCount();
  }

  problem() {
    const texts = this.#fields.map(({ value }) => this.clean(value)).filter((text) => text.trim() !== "");
    const min = this.number("min-strings");
    if (texts.length < min) return words.writeAtLeast(min);
    return texts.map((text) => this.problemOf(text)).find((message) => message) ?? "";
  }
}

/** Types of a response that can be typed. */
const TYPED = ["float", "identifier", "integer", "string"];

/** An interaction of one vendor: its content is shown, and its response is typed as text. */
export class CustomInteraction extends ExtendedTextInteraction {
  get isTyped() {
    const isOne = ["single", "record"].includes(this.getAttribute("cardinality"));
    return isOne && TYPED.includes(this.getAttribute("base-type"));
  }

  /** A space around an identifier would make it another one. */
  clean(text) {
    return this.getAttribute("base-type") === "identifier" ? text.trim() : super.clean(text);
  }

  build() {
    if (this.isTyped) super.build();
    else this.append(create("p", { class: "qti-notice" }, words.unsupported));
  }
}
