// The text of a part as it is spoken: by a screen reader as a name, or by the browser's voice.
import { spokenText } from "./catalog.js";
import { mathSpeech } from "./math.js";
import { textsOf } from "../../language.js";

const SILENT = "[hidden], [popover], [aria-hidden=true], qti-catalog-info, .qti-message, .qti-announcer, script, style";
const BLOCKS = /^(P|DIV|LI|TD|TH|TR|H[1-6]|BR|SECTION|DT|DD|QTI-PROMPT|QTI-SIMPLE-CHOICE|QTI-CONTENT-BODY)$/;

/** The name of a drawing as a screen reader has it; `null` if its texts are read instead. */
function drawingName(svg) {
  return svg.getAttribute("aria-label") ?? svg.querySelector(":scope > title")?.textContent ?? null;
}

function collect(node, parts) {
  if (node.nodeType === Node.TEXT_NODE) {
    parts.push(node.data);
    return;
  }
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(SILENT)) return;
  const own = spokenText(node) ?? node.getAttribute("data-say") ?? node.getAttribute("alt") ?? node.getAttribute("object-label");
  if (own !== null) {
    parts.push(own);
  } else if (node.localName === "math") {
    parts.push(` ${mathSpeech(node)} `);
  } else if (node.localName === "svg" && drawingName(node) !== null) {
    parts.push(` ${drawingName(node)} `);
  } else if (node.localName === "input" || node.localName === "select" || node.localName === "textarea") {
    const t = textsOf(node);
    parts.push(` ${t("blank")} `);
  } else {
    for (const child of node.childNodes) collect(child, parts);
    if (BLOCKS.test(node.tagName)) parts.push(" ");
  }
}

/** The text of an element and all that is in it, with descriptions of pictures and formulas in words. */
export function speechOf(element) {
  const parts = [];
  collect(element, parts);
  return parts.join("").replace(/\s+/g, " ").trim();
}
