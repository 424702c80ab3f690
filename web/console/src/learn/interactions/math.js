// Formulas in words, for names and for reading aloud. Screen readers that know MathML read the formula itself. The words are
// in the language of the formula.
import { textsOf } from "../../language.js";

const operators = (t) => ({
  "+": t("plus"),
  "-": t("minus"),
  "−": t("minus"),
  "±": t("plus or minus"),
  "×": t("times"),
  "⋅": t("times"),
  "·": t("times"),
  "*": t("times"),
  "÷": t("divided by"),
  "/": t("over"),
  "=": t("equals"),
  "≠": t("is not equal to"),
  "<": t("is less than"),
  ">": t("is greater than"),
  "≤": t("is at most"),
  "≥": t("is at least"),
  "≈": t("is about"),
  "→": t("to"),
  "∞": t("infinity"),
  "%": t("percent"),
  "°": t("degrees"),
  "∑": t("the sum"),
  "∫": t("the integral"),
  "√": t("the square root of"),
  "π": t("pi"),
  "(": t("open bracket"),
  ")": t("close bracket"),
  "\u2061": t("of"),
  "\u2062": "",
  "\u2063": ",",
  "\u2064": t("and"),
});

/** Halves to tenths: one of them, and several. */
const fractionNames = (t, n) => ({
  2: [t("one half"), t("{n} halves", { n })],
  3: [t("one third"), t("{n} thirds", { n })],
  4: [t("one quarter"), t("{n} quarters", { n })],
  5: [t("one fifth"), t("{n} fifths", { n })],
  6: [t("one sixth"), t("{n} sixths", { n })],
  7: [t("one seventh"), t("{n} sevenths", { n })],
  8: [t("one eighth"), t("{n} eighths", { n })],
  9: [t("one ninth"), t("{n} ninths", { n })],
  10: [t("one tenth"), t("{n} tenths", { n })],
});

const isShort = (text) => !text.includes(" ");
const grouped = (t, text) => (isShort(text) ? text : t("the quantity {text}", { text }));

function fraction(t, above, below) {
  const part = fractionNames(t, above)[below];
  if (part && /^\d+$/.test(above)) return part[above === "1" ? 0 : 1];
  return isShort(above) && isShort(below)
    ? t("{above} over {below}", { above, below })
    : t("the fraction {above} over {below}, end fraction", { above, below });
}

function power(t, base, exponent) {
  const whole = grouped(t, base);
  switch (exponent) {
    case "′":
    case "'":
      return t("{base} prime", { base });
    case "°":
    case t("degrees"):
      return t("{base} degrees", { base });
    case "2":
      return t("{base} squared", { base: whole });
    case "3":
      return t("{base} cubed", { base: whole });
    default:
      return t("{base} to the power of {exponent}", { base: whole, exponent });
  }
}

function spoken(t, element) {
  const parts = [...element.children].map((child) => spoken(t, child));
  const [first = "", second = "", third = ""] = parts;
  const subscript = () => t("{base} sub {index}", { base: first, index: second });
  switch (element.localName) {
    case "mo":
    case "mi": {
      const text = element.textContent.trim();
      return operators(t)[text] ?? text;
    }
    case "mn":
    case "mtext":
    case "ms":
      return element.textContent.trim();
    case "mfrac":
      return fraction(t, first, second);
    case "msqrt":
      return t("the square root of {text}", { text: grouped(t, parts.join(" ")) });
    case "mroot":
      return t("the root of order {order} of {text}", { order: second, text: grouped(t, first) });
    case "msup":
      return power(t, first, second);
    case "msub":
      return subscript();
    case "msubsup":
      return power(t, subscript(), third);
    case "munder":
      return t("{base} with {text} below", { base: first, text: second });
    case "mover":
      return t("{base} with {text} above", { base: first, text: second });
    case "munderover":
      return t("{base} from {low} to {high}", { base: first, low: second, high: third });
    case "mtable":
      return parts.map((row, at) => t("row {n}: {row}", { n: at + 1, row })).join("; ");
    case "mtr":
      return parts.join(", ");
    case "semantics":
      return first;
    case "mspace":
    case "mphantom":
      return "";
    default:
      return parts.filter((part) => part !== "").join(" ");
  }
}

/** A `math` element in words: its own text, or one made from its structure. */
export function mathSpeech(math) {
  const own = math.getAttribute("alttext") || math.getAttribute("aria-label");
  return own || spoken(textsOf(math), math).replace(/\s+/g, " ").trim();
}

/** Gives each formula without a text of its own one, for screen readers without MathML. */
export function nameFormulas(container) {
  for (const math of container.querySelectorAll("math:not([aria-label])")) math.setAttribute("aria-label", mathSpeech(math));
}
