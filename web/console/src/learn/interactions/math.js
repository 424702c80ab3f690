// Formulas in words, for names and for reading aloud. Screen readers that know MathML read the formula itself.

const OPERATORS = {
  "+": "plus",
  "-": "minus",
  "−": "minus",
  "±": "plus or minus",
  "×": "times",
  "⋅": "times",
  "·": "times",
  "*": "times",
  "÷": "divided by",
  "/": "over",
  "=": "equals",
  "≠": "is not equal to",
  "<": "is less than",
  ">": "is greater than",
  "≤": "is at most",
  "≥": "is at least",
  "≈": "is about",
  "→": "to",
  "∞": "infinity",
  "%": "percent",
  "°": "degrees",
  "∑": "the sum",
  "∫": "the integral",
  "√": "the square root of",
  "π": "pi",
  "(": "open bracket",
  ")": "close bracket",
  "\u2061": "of",
  "\u2062": "",
  "\u2063": ",",
  "\u2064": "and",
};
const POWERS = { 2: "squared", 3: "cubed" };
/** Halves to tenths. */
const PARTS = { 2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth", 10: "tenth" };

const isShort = (text) => !text.includes(" ");
const grouped = (text) => (isShort(text) ? text : `the quantity ${text}`);

function fraction(above, below) {
  const part = PARTS[below];
  if (part && /^\d+$/.test(above)) {
    if (above === "1") return `one ${part}`;
    return `${above} ${part === "half" ? "halves" : `${part}s`}`;
  }
  return isShort(above) && isShort(below) ? `${above} over ${below}` : `the fraction ${above} over ${below}, end fraction`;
}

function power(base, exponent) {
  if (exponent === "′" || exponent === "'") return `${base} prime`;
  if (exponent === "degrees" || exponent === "°") return `${base} degrees`;
  return POWERS[exponent] ? `${grouped(base)} ${POWERS[exponent]}` : `${grouped(base)} to the power of ${exponent}`;
}

function spoken(element) {
  const parts = [...element.children].map(spoken);
  const [first = "", second = "", third = ""] = parts;
  switch (element.localName) {
    case "mo":
    case "mi": {
      const text = element.textContent.trim();
      return OPERATORS[text] ?? text;
    }
    case "mn":
    case "mtext":
    case "ms":
      return element.textContent.trim();
    case "mfrac":
      return fraction(first, second);
    case "msqrt":
      return `the square root of ${grouped(parts.join(" "))}`;
    case "mroot":
      return `the root of order ${second} of ${grouped(first)}`;
    case "msup":
      return power(first, second);
    case "msub":
      return `${first} sub ${second}`;
    case "msubsup":
      return power(`${first} sub ${second}`, third);
    case "munder":
      return `${first} with ${second} below`;
    case "mover":
      return `${first} with ${second} above`;
    case "munderover":
      return `${first} from ${second} to ${third}`;
    case "mtable":
      return parts.map((row, at) => `row ${at + 1}: ${row}`).join("; ");
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
  return math.getAttribute("alttext") || math.getAttribute("aria-label") || spoken(math).replace(/\s+/g, " ").trim();
}

/** Gives each formula without a text of its own one, for screen readers without MathML. */
export function nameFormulas(container) {
  for (const math of container.querySelectorAll("math:not([aria-label])")) math.setAttribute("aria-label", mathSpeech(math));
}
