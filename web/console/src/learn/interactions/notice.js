import { create } from "./base.js";
import { words } from "./words.js";

/** An interaction that this page cannot show. It has no response. */
export class UnsupportedInteraction extends HTMLElement {
  connectedCallback() {
    if (this.querySelector(":scope > .qti-notice")) return;
    this.append(create("p", { class: "qti-notice" }, words.unsupported));
  }
}
