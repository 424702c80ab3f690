// Tools for reading an item: its text read aloud, the size of its text, its contrast.
import { create } from "./interactions/base.js";
import { spokenFile } from "./interactions/catalog.js";
import { speechOf } from "./interactions/speech.js";
import { languageOf, t } from "../language.js";

/** The elements that are read as one piece. */
const PIECES = "qti-prompt, p, li, h2, h3, h4, h5, h6, dt, dd, caption, th, td, label, .qti-token, blockquote, pre";
const SILENT = "[hidden], [popover], qti-catalog-info, .qti-message, .qti-hint, .qti-pairs";
const SIZES = [
  [t("Normal text"), ""],
  [t("Large text"), "1.375rem"],
  [t("Very large text"), "1.75rem"],
];
const CONTRASTS = [
  [t("Normal contrast"), ""],
  [t("High contrast"), "high"],
];
const STORED = "lyceum-reading";

/** The pieces of a container that are read, in their order; a piece inside another is read with it. */
function piecesOf(container) {
  const all = [...container.querySelectorAll(PIECES)].filter((piece) => !piece.closest(SILENT) && speechOf(piece) !== "");
  const pieces = all.filter((piece) => !all.some((other) => other !== piece && other.contains(piece)));
  return pieces.length > 0 ? pieces : [container];
}

/**
 * Reads a container aloud with the browser's voice, or with the recordings of its catalog.
 *
 * @param {Element} container
 * @param {(isReading: boolean) => void} onChange called when reading begins and ends
 */
export function readAloud(container, onChange = () => {}) {
  let end = null;

  const speak = (piece) =>
    new Promise((resolve) => {
      const file = spokenFile(piece);
      if (file) {
        const audio = new Audio(file);
        audio.addEventListener("ended", resolve);
        audio.addEventListener("error", resolve);
        end = () => (audio.pause(), resolve());
        audio.play().catch(resolve);
        return;
      }
      const utterance = new SpeechSynthesisUtterance(speechOf(piece));
      utterance.lang = languageOf(piece);
      utterance.addEventListener("end", resolve);
      utterance.addEventListener("error", resolve);
      end = () => (speechSynthesis.cancel(), resolve());
      speechSynthesis.speak(utterance);
    });

  let isReading = false;
  return {
    async start() {
      isReading = true;
      onChange(true);
      for (const piece of piecesOf(container)) {
        if (!isReading) break;
        piece.classList.add("qti-spoken");
        await speak(piece);
        piece.classList.remove("qti-spoken");
      }
      isReading = false;
      onChange(false);
    },
    stop() {
      isReading = false;
      end?.();
    },
    get isReading() {
      return isReading;
    },
  };
}

function choice(label, options, value, apply) {
  const select = create("select", { "aria-label": label }, ...options.map(([name, own]) => create("option", { value: own, selected: own === value }, name)));
  select.addEventListener("change", () => apply(select.value));
  return select;
}

/**
 * Puts the tools into a host. What a student chose stays for the browser's session. Returns what reads aloud.
 *
 * @param {Element} host
 * @param {Element} container what is read and shown larger
 */
export function readingTools(host, container) {
  const chosen = { size: "", contrast: "", ...JSON.parse(sessionStorage.getItem(STORED) ?? "{}") };
  const apply = (change) => {
    Object.assign(chosen, change);
    sessionStorage.setItem(STORED, JSON.stringify(chosen));
    if (chosen.size) container.style.setProperty("--qti-text-size", chosen.size);
    else container.style.removeProperty("--qti-text-size");
    container.dataset.contrast = chosen.contrast;
  };
  apply({});
  const button = create("button", { type: "button" }, t("Read aloud"));
  const reader = readAloud(container, (isReading) => {
    button.textContent = isReading ? t("Stop reading") : t("Read aloud");
  });
  button.addEventListener("click", () => (reader.isReading ? reader.stop() : reader.start()));
  host.append(
    ...("speechSynthesis" in window ? [button] : []),
    choice(t("Text size"), SIZES, chosen.size, (size) => apply({ size })),
    choice(t("Contrast"), CONTRASTS, chosen.contrast, (contrast) => apply({ contrast })),
  );
  return reader;
}
