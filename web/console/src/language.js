// Texts and numbers in the language of the page. The English text is the key of the catalogue of the pages, from which the
// build takes the Spanish texts that scripts use.
import spanish from "spanish-texts";

const language = document.documentElement.lang || "en";
const texts = language === "es" ? spanish : {};

/** A number as people read it: at most two decimals. */
export const number = (value) => value.toLocaleString(language, { maximumFractionDigits: 2, useGrouping: "always" });

const shown = (value) => (typeof value === "number" ? number(value) : value);

/** A text in the language of the page. Each `{name}` in it becomes the value with this name. */
export function t(english, values = {}) {
  const text = (texts[english] ?? english).replaceAll(/\{(\w+)\}/g, (_, name) => shown(values[name]));
  return language === "en-XA" ? `⟦${text}⟧` : text;
}

/** A text that depends on a count, which it shows as `{n}`. */
export const plural = (count, one, other, values = {}) => t(count === 1 ? one : other, { n: count, ...values });
