// The page on which a student works through a lesson.
import "./sign-out.js";
import { LessonApi, Refused, SignedOut, Unreachable } from "./api.js";
import { showMaterial } from "./material.js";
import { button, number, part, plural } from "./part.js";
import { Sender } from "./sender.js";
import { answeredCard, questionCard } from "./question.js";
import { readingTools } from "./reading.js";
import { outcome } from "./words.js";

const player = document.querySelector("[data-lesson]");
const status = document.querySelector("[data-status]");
const stage = document.querySelector("[data-stage]");
const api = new LessonApi(player.dataset.lesson);
const sender = new Sender(api, player.dataset.lesson, { waits, signedOut, refused });

const tools = part("div", { class: "tools", role: "group", "aria-label": "Reading" });
readingTools(tools, stage);
player.prepend(tools);

/** The lesson as the server told it last. */
let lesson;

/** Does work that changes the lesson. If the server refuses it, reads the lesson again. */
async function change(work) {
  try {
    return await withServer(work);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return void (await refused(error));
  }
}

/** Says something above the lesson; screen readers announce it. An empty text removes it. */
function say(text, tone = "warn") {
  status.textContent = text;
  status.className = `notice ${tone}`;
  status.hidden = text === "";
}

/** Shows the only content of the page, and moves the focus to its heading. */
function show(...children) {
  stage.replaceChildren(...children.filter((child) => child));
  const heading = stage.querySelector("h2");
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus();
}

const home = () => part("a", { class: "button", href: "/learn" }, "Back to my lessons");

/** Does work that needs the server, as soon as it can be reached. Fails if the server refuses it. */
async function withServer(work) {
  try {
    const result = await work();
    if (!sender.isWaiting) say("");
    return result;
  } catch (error) {
    if (error instanceof SignedOut) return signedOut();
    if (!(error instanceof Unreachable)) throw error;
    say("No connection. Your work is safe. This page tries again by itself.");
    await new Promise((resolve) => setTimeout(resolve, 2000));
    return withServer(work);
  }
}

function waits(count) {
  if (count > 0) say(`No connection. ${plural(count, "answer is", "answers are")} saved on this device and will be sent when you are online again.`);
  else say("");
}

function signedOut() {
  say("");
  show(part("h2", {}, "You are signed out"), part("p", {}, "Sign in to go on. Everything that you sent is saved."), signInLink());
}

function signInLink() {
  return part("a", { class: "button main", href: `/sign-in?next=${encodeURIComponent(location.pathname)}` }, "Sign in");
}

/** The server has another state than this page: read it again. */
async function refused({ status: code }) {
  await open();
  if (code === 409) say("This lesson went on in another window. Here is where you are now.");
  else if (code !== 404) say("This answer could not be saved. Change it and try again.", "bad");
}

async function open() {
  try {
    lesson = await withServer(() => api.open());
  } catch (error) {
    say("");
    const title = error.status === 404 ? "This lesson is not here any more" : "This lesson cannot be opened";
    return show(part("h2", {}, title), part("p", { class: "actions" }, home()));
  }
  if (lesson) await route();
}

/** Shows what the student does now. */
async function route() {
  const { mode, attempt } = lesson;
  document.querySelector("[data-bar]")?.remove();
  if (mode === "material" || mode === "outside-test" || mode === "app") return showMaterial(lesson, { show, home, markDone });
  if (mode === "unknown") return show(part("h2", {}, "This lesson cannot be opened"), part("p", {}, "Tell your teacher."), home());
  if (!attempt) return intro();
  if (attempt.isComplete) return finished();
  return mode === "steps" ? step() : whole();
}

async function markDone() {
  lesson = (await change(() => api.markDone())) ?? lesson;
  await route();
}

function intro() {
  const about = lesson.mode === "steps" ? "Answer questions until your score is 100." : "Answer all questions, then finish. You can change your answers until then.";
  show(part("h2", {}, "Ready?"), part("p", {}, about), part("p", { class: "actions" }, start("Start", 0), home()));
}

function start(text, after) {
  return button(text, async () => {
    const opened = await change(() => api.start(after));
    if (!opened) return;
    lesson = opened;
    await route();
  }, { class: "main" });
}

/** The bar that shows the score on its way to 100, or how many questions are answered. */
function bar(text, value, max) {
  const meter = part("progress", { max, value, "aria-label": text });
  document.querySelector("[data-bar]")?.remove();
  const line = part("div", { class: "progress", "data-bar": "" }, part("span", {}, text), meter);
  stage.before(line);
}

// One question at a time, each scored at once.

async function step() {
  const [question] = lesson.questions;
  if (!question) {
    const next = await change(() => api.next());
    if (!next) return;
    lesson = next;
    if (lesson.questions.length === 0) return route();
    return step();
  }
  scoreBar(lesson.attempt);
  const card = questionCard(question, { title: `Question ${question.number + 1}` });
  const check = button("Check", async () => {
    if (!card.check()) return;
    card.disable();
    const reply = await sender.send(card.answer(lesson.attempt.key));
    if (reply) stepAnswered(reply);
  }, { class: "main" });
  card.form.append(part("p", { class: "actions" }, check));
  card.onSubmit(() => check.click());
  show(card.form);
}

function scoreBar({ score = 0 }) {
  bar(`Score ${number(score)} of 100`, score, 100);
}

function stepAnswered({ attempt, question }) {
  lesson = { ...lesson, attempt, questions: [] };
  scoreBar(attempt);
  const next = button(attempt.isComplete ? "See my result" : "Next question", open, { class: "main" });
  const card = answeredCard(question);
  card.append(part("p", { class: "actions" }, next));
  show(card);
}

// All questions, one a page, scored together.

let place;

function whole() {
  const { questions } = lesson;
  place ??= Math.max(0, questions.findIndex(({ responses }) => !responses));
  if (questions.every(({ responses }) => responses) && place === 0) return review();
  return question(place);
}

const isAnswered = ({ responses }) => responses !== undefined;

function question(at) {
  const { questions, attempt } = lesson;
  place = at;
  bar(`${questions.filter(isAnswered).length} of ${questions.length} answered`, questions.filter(isAnswered).length, questions.length);
  const shown = questions[at];
  const card = questionCard(shown, { title: `Question ${at + 1} of ${questions.length}` });
  const keep = async () => {
    if (!card.hasChanged()) return true;
    if (!card.check()) return false;
    shown.responses = card.responses();
    // The answer waits in the browser until the server has it; the next question need not wait for that.
    void sender.send(card.answer(attempt.key));
    return true;
  };
  const go = (to) => async () => (await keep()) && (to < questions.length ? question(to) : review());
  const back = at > 0 && button("Back", go(at - 1));
  const next = button(at + 1 < questions.length ? "Next" : "Check my answers", go(at + 1), { class: "main" });
  const all = at + 1 < questions.length && button("Check my answers", go(questions.length), { class: "quiet" });
  card.form.append(part("p", { class: "actions" }, ...[back, next, all].filter((one) => one)));
  card.onSubmit(() => next.click());
  show(card.form);
}

/** What was answered, before the student finishes. */
function review() {
  const { questions, attempt } = lesson;
  place = questions.length;
  const open = questions.filter((one) => !isAnswered(one)).length;
  bar(`${questions.length - open} of ${questions.length} answered`, questions.length - open, questions.length);
  const row = (one, at) => {
    const state = part("span", { class: `pill ${isAnswered(one) ? "good" : "warn"}` }, isAnswered(one) ? "answered" : "not answered");
    return part("li", {}, button(`Question ${at + 1}`, () => question(at), { class: "quiet" }), state);
  };
  const finish = button("Finish", async () => {
    // Every answer must arrive before the lesson is scored.
    if (!(await sender.flush())) return;
    const done = await change(() => api.finish(attempt.key));
    if (!done) return;
    lesson = done;
    await route();
  }, { class: "main" });
  const action = open === 0 ? finish : button("Answer the next question", () => question(questions.findIndex((one) => !isAnswered(one))), { class: "main" });
  const text = open === 0 ? "You answered everything. You can still change answers. Then finish." : `${plural(open, "question has", "questions have")} no answer yet.`;
  show(part("h2", {}, "Your answers"), part("p", {}, text), part("ol", { class: "overview" }, ...questions.map(row)), part("p", { class: "actions" }, action));
}

// The end.

function finished() {
  const { attempt, mode } = lesson;
  const { title, sentences } = outcome(attempt, mode);
  if (mode === "steps") scoreBar(attempt);
  const again = lesson.canStart && start("Try again", attempt.number);
  const answers = button("See my answers", results);
  const home = part("a", { class: `button ${again && !attempt.isMastered ? "" : "main"}`, href: "/learn" }, "Back to my lessons");
  if (again && attempt.isMastered) again.className = "";
  const actions = attempt.isMastered ? [home, answers, again] : [again, answers, home];
  show(part("h2", {}, title), ...sentences.map((text) => part("p", { class: "lead" }, text)), part("p", { class: "actions" }, ...actions.filter((one) => one)));
}

async function results() {
  const seen = await change(() => api.review());
  if (!seen) return;
  const cards = seen.questions.map((one, at) => answeredCard(one, `Question ${at + 1}`, "h3"));
  show(part("h2", {}, "Your answers"), ...cards, part("p", { class: "actions" }, home()));
}

addEventListener("online", () => void sender.flush());

async function begin() {
  await withServer(() => sender.open());
  // What waited from before a reload arrives first, so the state that is read then has it.
  await sender.flush();
  await open();
}
void begin();
