// A question with its interactions, before and after the answer.
import { focusIn, interactions } from "./interactions/index.js";
import { part } from "./part.js";
import { RESULTS } from "./words.js";
import { t } from "../language.js";

/** The question's content with its texts to read. The server's HTML is safe: it contains only listed elements. */
function content(question) {
  const item = part("div", { class: "item" });
  item.innerHTML = question.html;
  const texts = (question.texts ?? []).map((html) => {
    const text = part("section", { class: "reading", "aria-label": t("Text to read") });
    text.innerHTML = html;
    interactions(text);
    return text;
  });
  return { item, texts };
}

/** A question to answer. */
export function questionCard(question, { title }) {
  const { item, texts } = content(question);
  const form = part("form", { class: "card question", novalidate: true, "aria-labelledby": "question-title" }, part("h2", { id: "question-title" }, title), ...texts, item);
  // The interactions build themselves when they are part of the page.
  const holder = part("div", { hidden: true }, form);
  document.body.append(holder);
  const parts = interactions(item);
  if (question.responses) parts.restore(question.responses);
  holder.remove();
  let hasChanged = false;
  parts.onChange(() => (hasChanged = true));
  return {
    form,
    responses: () => parts.responses(),
    disable: () => parts.disable(),
    hasChanged: () => hasChanged,
    /** The answer as it is now was sent. */
    markSent: () => (hasChanged = false),
    /** Whether the answer may be sent. */
    isFinished: () => parts.validity().isValid,
    /** Whether the answer may be sent; shows what is missing otherwise. */
    check() {
      const { isValid, problems } = parts.validity();
      for (const { element, message } of problems) element.show(message);
      if (!isValid) focusIn(problems[0].element);
      return isValid;
    },
    /** Whether there is an answer; asks for one otherwise. */
    isAnswered: () => parts.isAnswered(),
    answer: (attempt) => answerTo(question, parts.responses(), attempt),
    onSubmit(work) {
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        work();
      });
    },
  };
}

/** An answer as the server takes it. Its id makes it count once. */
export const answerTo = (question, responses, attempt) => ({ id: newId(), attempt, question: question.id, number: question.number, responses });

function newId() {
  return toHex(crypto.getRandomValues(new Uint8Array(16)));
}

const toHex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** A question with its answer, the result and the feedback. */
export function answeredCard(question, title = t("Question {n}", { n: question.number + 1 }), level = "h2") {
  const { item, texts } = content(question);
  const { text, tone } = RESULTS[question.result] ?? { text: t("Saved."), tone: "" };
  const result = part("p", { class: `notice ${tone}`, role: "status" }, text);
  const card = part("section", { class: "card question", "aria-label": title }, part(level, {}, title), result, ...texts, item);
  const holder = part("div", { hidden: true }, card);
  document.body.append(holder);
  const parts = interactions(item);
  if (question.responses) parts.restore(question.responses);
  parts.disable();
  holder.remove();
  return card;
}
