// Help that an item's catalog has for its parts: explanations, translations, descriptions and texts for reading aloud
// (QTI 3.0, catalogs for personal needs).
import { create, newId } from "./base.js";
import { words } from "./words.js";

/** The kinds of help that a student opens. The others are for reading aloud, or for devices that a browser does not have. */
const SHOWN = [
  "glossary-on-screen",
  "keyword-translation",
  "simplified-language-portions",
  "linguistic-guidance",
  "additional-directions",
  "long-description",
  "transcript",
];

/** The cards of one kind that the catalog has for an element. */
function cardsOf(element, support) {
  const name = element.getAttribute("data-catalog-idref");
  const item = element.closest(".qti-item") ?? document;
  const catalog = name && item.querySelector(`qti-catalog[name="${CSS.escape(name)}"]`);
  return catalog ? [...catalog.querySelectorAll(`:scope > qti-card[support="${support}"]`)] : [];
}

/** The text that is spoken for an element in place of the visible one; `null` if there is none. */
export function spokenText(element) {
  const [card] = cardsOf(element, "spoken");
  const text = card?.querySelector("qti-html-content")?.textContent.trim();
  return text || null;
}

/** The recording that is played for an element; `null` if there is none. */
export function spokenFile(element) {
  const [card] = cardsOf(element, "spoken");
  return card?.querySelector('qti-file-href[mime-type^="audio/"]')?.getAttribute("href") ?? null;
}

/** The name of a language, in itself. */
function languageName(tag) {
  try {
    return new Intl.DisplayNames([tag], { type: "language" }).of(tag);
  } catch {
    return tag;
  }
}

/** The content of a card, or of its entries, each in its language. */
function contentOf(card) {
  const parts = [...card.querySelectorAll(":scope > qti-html-content, :scope > qti-card-entry")];
  return parts.map((part) => {
    const content = part.localName === "qti-html-content" ? part : part.querySelector("qti-html-content");
    const language = part.getAttribute("lang");
    const box = create("div", { lang: language }, ...(content ? [...content.childNodes].map((node) => node.cloneNode(true)) : []));
    if (language && card.getAttribute("support") === "keyword-translation") box.prepend(create("strong", {}, `${languageName(language)} `));
    return box;
  });
}

/** Makes the terms of an item buttons that open their help. */
export function explainTerms(container) {
  for (const element of container.querySelectorAll("[data-catalog-idref]")) {
    const cards = SHOWN.flatMap((support) => cardsOf(element, support));
    // A button inside of another one could not be reached.
    if (cards.length === 0 || element.closest("button, [role=checkbox], select")) continue;
    const popover = create("div", { class: "qti-help", popover: "auto", id: newId(), role: "dialog", tabindex: "-1" });
    for (const card of cards) popover.append(create("p", { class: "qti-help-kind" }, words.help[card.getAttribute("support")]), ...contentOf(card));
    const isTerm = element.matches("span, em, strong, b, i, abbr, dfn, cite, code, kbd, var, q, sub, sup, small");
    const button = create("button", { type: "button", popovertarget: popover.id, class: isTerm ? "qti-term" : "qti-more" });
    if (isTerm) {
      button.append(...element.childNodes);
      element.append(button, popover);
    } else {
      button.append(words.moreHelp);
      element.after(button, popover);
    }
    popover.setAttribute("aria-label", words.helpFor(button.textContent));
    popover.addEventListener("toggle", ({ newState }) => newState === "open" && open(popover, button));
  }
}

/** Moves a popover to its button, within the window. */
function open(popover, button) {
  const { left, bottom, top } = button.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const isBelow = bottom + height + 8 < window.innerHeight;
  popover.style.left = `${Math.max(8, Math.min(left, window.innerWidth - width - 8))}px`;
  popover.style.top = `${isBelow ? bottom + 6 : Math.max(8, top - height - 6)}px`;
  popover.focus();
}
