// The base of all interactions: their name for a screen reader, values as the scoring API takes them, messages.
import { speechOf } from "./speech.js";
import { words } from "./words.js";

let count = 0;

/** An id that no other element of the page has. */
export function newId() {
  count += 1;
  return `lyceum-part-${count}`;
}

/** Creates an element. Attributes that are false, null or undefined are left out. */
export function create(name, attributes = {}, ...children) {
  const element = name.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4))
    : document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== false && value !== null && value !== undefined) element.setAttribute(attribute, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

let region;

/** Makes screen readers announce a text. */
export function announce(text) {
  region ??= create("p", { class: "qti-announcer", role: "status" });
  if (!region.isConnected) document.body.append(region);
  // The same text again is announced only if it changes.
  region.textContent = region.textContent === text ? `${text}\u00a0` : text;
}

/** An interaction: a custom element with the name of the QTI element. */
export class Interaction extends HTMLElement {
  #isBuilt = false;
  #message;
  isDisabled = false;

  connectedCallback() {
    if (this.#isBuilt) return;
    this.#isBuilt = true;
    this.build();
  }

  /** The name of the response variable. */
  get identifier() {
    return this.getAttribute("response-identifier");
  }

  get prompt() {
    return this.querySelector(":scope > qti-prompt");
  }

  /** The whole number of an attribute. */
  number(name, otherwise = 0) {
    const value = Number.parseInt(this.getAttribute(name), 10);
    return Number.isNaN(value) ? otherwise : value;
  }

  /** Values as a response: a list, or a single value by the variable's cardinality; `null` for none. */
  response(values) {
    if (values.length === 0) return null;
    return this.getAttribute("cardinality") === "single" ? values[0] : values;
  }

  /** The values of a response. */
  static values(response) {
    if (response === null || response === undefined || response === "") return [];
    return Array.isArray(response) ? response : [response];
  }

  /** Makes the element a group with the name of its prompt, and a hint below the prompt. */
  nameGroup(role = "group", hint = "", otherwise = words.choices) {
    const { prompt } = this;
    this.setAttribute("role", role);
    if (prompt?.textContent.trim() || prompt?.querySelector("img, math, svg")) {
      prompt.id ||= newId();
      this.setAttribute("aria-labelledby", prompt.id);
    } else {
      this.setAttribute("aria-label", otherwise);
    }
    if (!hint) return;
    const line = create("p", { class: "qti-hint", id: newId() }, hint);
    this.setAttribute("aria-describedby", line.id);
    if (prompt) prompt.after(line);
    else this.prepend(line);
  }

  /** The text of a part, as a screen reader speaks it. */
  nameOf(part) {
    return speechOf(part) || part.getAttribute("identifier");
  }

  /** Shows a message below the interaction and announces it; without a text, removes the message. */
  show(message) {
    if (!message) {
      this.#message?.remove();
      return;
    }
    this.#message ??= create("p", { class: "qti-message" });
    this.#message.textContent = message;
    this.append(this.#message);
    announce(message);
  }

  /** Tells listeners that the response changed. */
  changed() {
    this.show("");
    this.dispatchEvent(new Event("qti-change", { bubbles: true }));
  }

  /** The reason why the response may not be sent yet; empty if it may. */
  problem() {
    return "";
  }

  /** Asks for an answer where the question has none. */
  askForAnswer() {
    this.show(words.answerFirst);
  }

  /** Shows the response, which can no longer be changed. */
  disable() {
    this.isDisabled = true;
    this.classList.add("qti-disabled");
    for (const control of this.querySelectorAll("input, select, textarea, button")) control.disabled = true;
    for (const control of this.querySelectorAll("[tabindex][role]")) control.setAttribute("aria-disabled", "true");
  }
}
