// The preview of an item: the student's interactions, and the server's result for an answer.
import { interactions } from "./learn/interactions/index.js";
import { readingTools } from "./learn/reading.js";
import { t } from "./language.js";

const part = (name) => document.querySelector(`[data-${name}]`);
const [form, item, again, result, summary, errors, details] = ["question", "item", "again", "result", "summary", "errors", "details"].map(part);
const check = form.querySelector(".main");

let question = interactions(item);
readingTools(part("reading"), part("preview"));
for (const stimulus of document.querySelectorAll("[data-stimulus]")) interactions(stimulus);

/** Shows problems as a list below the summary. */
function list(messages) {
  errors.replaceChildren(...messages.map((message) => Object.assign(document.createElement("li"), { textContent: message })));
  errors.hidden = messages.length === 0;
}

function show(text, problems, data) {
  summary.textContent = text;
  summary.dataset.tone = data && !data.needsManualScoring ? (data.score >= data.maxScore ? "good" : "bad") : "";
  list(problems);
  details.textContent = data ? JSON.stringify(data, null, 2) : "";
  details.parentElement.hidden = !data;
  result.hidden = false;
  result.focus();
}

function describe({ score, maxScore: max, needsManualScoring }) {
  if (needsManualScoring) return t("A person scores this answer. The rules gave {score} of {max} so far.", { score, max });
  if (score >= max) return t("Right: {score} of {max}.", { score, max });
  return score > 0 ? t("Partly right: {score} of {max}.", { score, max }) : t("Not right: {score} of {max}.", { score, max });
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { isValid, problems } = question.validity();
  if (!isValid) {
    show(t("The student is asked to complete the answer first."), problems.map(({ message }) => message));
    return;
  }
  const responses = question.responses();
  const { token, seed } = Object.fromEntries(new FormData(form));
  const answer = JSON.stringify({ responses, seed: Number(seed) });
  check.disabled = true;
  try {
    const response = await fetch(location.pathname, { method: "POST", body: new URLSearchParams({ token, answer }) });
    const { html, message, missingFiles, ...scored } = await response.json();
    if (!response.ok) {
      show(message, []);
      return;
    }
    item.innerHTML = html;
    question = interactions(item);
    question.restore(responses);
    question.disable();
    form.querySelector(".actions").classList.add("qti-checked");
    check.hidden = true;
    again.hidden = false;
    const missing = missingFiles.map((file) => t("Students do not get the file {file}.", { file }));
    show(describe(scored), [...(scored.faults ?? []).map(({ message }) => message), ...missing], { responses, ...scored });
  } catch {
    show(t("The server did not answer. Check again in a moment."), []);
  } finally {
    check.disabled = false;
  }
});

again.addEventListener("click", () => location.reload());
