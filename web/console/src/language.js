// Texts and numbers in the language of the page. The English text is the key of the catalogue of the pages, from which the
// build takes the Spanish texts that scripts use.
import spanish from "spanish-texts";

const page = document.documentElement.lang || "en";

const numberIn = (language, value) => value.toLocaleString(language, { maximumFractionDigits: 2, useGrouping: "always" });

function textIn(language, english, values) {
  const shown = (value) => (typeof value === "number" ? numberIn(language, value) : value);
  const known = (language === "es" ? spanish[english] : undefined) ?? english;
  const text = known.replaceAll(/\{(\w+)\}/g, (_, name) => shown(values[name]));
  return language === "en-XA" ? `⟦${text}⟧` : text;
}

/** A number as people read it: at most two decimals. */
export const number = (value) => numberIn(page, value);

/** A text in the language of the page. Each `{name}` in it becomes the value with this name. */
export const t = (english, values = {}) => textIn(page, english, values);

/** A text that depends on a count, which it shows as `{n}`. */
export const plural = (count, one, other, values = {}) => t(count === 1 ? one : other, { n: count, ...values });

/** The language of an element as a BCP 47 tag: its own or that of what it is in, otherwise the page's. */
export const languageOf = (element) => element.closest("[lang]:not([lang=''])")?.getAttribute("lang") ?? page;

/** `t` in the language of an element. A language without a catalogue has the texts of the page. */
export function textsOf(element) {
  const own = languageOf(element).split("-")[0].toLowerCase();
  const language = ["en", "es"].includes(own) && page !== "en-XA" ? own : page;
  return (english, values = {}) => textIn(language, english, values);
}
