// The interactions of QTI 3 as custom elements, for the HTML that the server makes of an item.
import { AssociateInteraction } from "./associate.js";
import { Interaction } from "./base.js";
import { explainTerms } from "./catalog.js";
import { ChoiceInteraction } from "./choice.js";
import { DrawingInteraction, UploadInteraction } from "./files.js";
import { GapMatchInteraction } from "./gap-match.js";
import { GraphicGapMatchInteraction } from "./graphic-gap-match.js";
import { GraphicAssociateInteraction, GraphicOrderInteraction, HotspotInteraction } from "./hotspot.js";
import { HottextInteraction } from "./hottext.js";
import { InlineChoiceInteraction } from "./inline-choice.js";
import { MatchInteraction } from "./match.js";
import { nameFormulas } from "./math.js";
import { MediaInteraction } from "./media.js";
import { UnsupportedInteraction } from "./notice.js";
import { OrderInteraction } from "./order.js";
import { PositionObjectInteraction, SelectPointInteraction } from "./points.js";
import { SliderInteraction } from "./slider.js";
import { CustomInteraction, ExtendedTextInteraction, TextEntryInteraction } from "./text.js";

const KINDS = {
  "qti-associate-interaction": AssociateInteraction,
  "qti-choice-interaction": ChoiceInteraction,
  "qti-custom-interaction": CustomInteraction,
  "qti-drawing-interaction": DrawingInteraction,
  "qti-end-attempt-interaction": class extends UnsupportedInteraction {},
  "qti-extended-text-interaction": ExtendedTextInteraction,
  "qti-gap-match-interaction": GapMatchInteraction,
  "qti-graphic-associate-interaction": GraphicAssociateInteraction,
  "qti-graphic-gap-match-interaction": GraphicGapMatchInteraction,
  "qti-graphic-order-interaction": GraphicOrderInteraction,
  "qti-hotspot-interaction": HotspotInteraction,
  "qti-hottext-interaction": HottextInteraction,
  "qti-inline-choice-interaction": InlineChoiceInteraction,
  "qti-match-interaction": MatchInteraction,
  "qti-media-interaction": MediaInteraction,
  "qti-order-interaction": OrderInteraction,
  "qti-portable-custom-interaction": class extends UnsupportedInteraction {},
  "qti-position-object-interaction": PositionObjectInteraction,
  "qti-select-point-interaction": SelectPointInteraction,
  "qti-slider-interaction": SliderInteraction,
  "qti-text-entry-interaction": TextEntryInteraction,
  "qti-upload-interaction": UploadInteraction,
};
for (const [name, kind] of Object.entries(KINDS)) customElements.define(name, kind);
const NAMES = Object.keys(KINDS).join(", ");

/** Moves the focus to what answers an interaction. */
export function focusIn(interaction) {
  (interaction.querySelector("input, select, textarea, button, [tabindex]") ?? interaction).focus();
}

/**
 * The interactions in a container whose HTML comes from the server. Call it once after each change of the HTML.
 *
 * @param {Element} container the element around the item's HTML
 */
export function interactions(container) {
  customElements.upgrade(container);
  nameFormulas(container);
  explainTerms(container);
  const all = () => [...container.querySelectorAll(NAMES)].filter((element) => element instanceof Interaction);
  return {
    /** The response to each response variable, as `POST …/process-response` takes it; `null` without an answer.
     * @returns {Record<string, unknown>} */
    responses: () => Object.fromEntries(all().map((interaction) => [interaction.identifier, interaction.value])),

    /** Shows responses, such as those that {@link responses} returned. Interactions without one become empty.
     * @param {Record<string, unknown>} responses */
    restore(responses) {
      for (const interaction of all()) interaction.value = responses[interaction.identifier] ?? null;
    },

    /** Makes all interactions read-only. They keep showing the answer. */
    disable() {
      for (const interaction of all()) interaction.disable();
    },

    /** Calls the listener after each change of a response that the student made. Returns a function that ends it.
     * @param {() => void} listener */
    onChange(listener) {
      container.addEventListener("qti-change", listener);
      return () => container.removeEventListener("qti-change", listener);
    },

    /** Whether one of the interactions has an answer, or none can have one. Otherwise the first asks for one.
     * @returns {boolean} */
    isAnswered() {
      const [first, ...others] = all();
      if (!first || [first, ...others].some(({ value }) => value !== null)) return true;
      first.askForAnswer();
      focusIn(first);
      return false;
    },

    /** Whether all responses may be sent, and for each that may not its variable, a message for the student and the
     * interaction.
     * @returns {{ isValid: boolean, problems: { identifier: string, message: string, element: Interaction }[] }} */
    validity() {
      const problems = all().map((element) => ({ identifier: element.identifier, message: element.problem(), element }));
      const found = problems.filter(({ message }) => message);
      return { isValid: found.length === 0, problems: found };
    },
  };
}
