// The page on which a student works through a lesson.
import { LessonApi, Refused, SignedOut, Unreachable } from "./api.js";
import { showMaterial } from "./material.js";
import { plural, t } from "../language.js";
import { button, part } from "./part.js";
import { Sender } from "./sender.js";
import { answerTo, answeredCard, questionCard } from "./question.js";
import { readingTools } from "./reading.js";
import { LessonTabs } from "./tabs.js";
import { TimeLeft, inWords } from "./time.js";
import { outcome } from "./words.js";

const player = document.querySelector("[data-lesson]");
const status = document.querySelector("[data-status]");
const stage = document.querySelector("[data-stage]");
const api = new LessonApi(player.dataset.lesson);
const sender = new Sender(api, player.dataset.lesson, { waits, signedOut, refused: answerRefused });

const tools = part("div", { class: "tools", role: "group", "aria-label": t("Reading") });
const reader = readingTools(tools, stage);
player.prepend(tools);
const timeLeft = new TimeLeft(stage, () => void timeIsOver());
const tabs = new LessonTabs(player.dataset.lesson, { store: storeShown, finished: () => void finishedElsewhere() });

/** The lesson as the server described it last. */
let lesson;

/** Does work that changes the lesson. If the server refuses it, reads the lesson again and says the text. */
async function change(work, text) {
  try {
    return await withServer(work);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return void (await refused(error, text));
  }
}

/** Says something above the lesson; screen readers announce it. An empty text removes it. */
function say(text, tone = "warn") {
  status.textContent = text;
  status.className = `notice ${tone}`;
}

/** Shows the only content of the page, and moves the focus to its heading. */
function show(...children) {
  reader.stop();
  stage.replaceChildren(...children.filter((child) => child));
  const heading = stage.querySelector("h2");
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus();
}

const home = () => part("a", { class: "button", href: "/learn" }, t("Back to my lessons"));

/** Does work that needs the server, as soon as it can be reached. Fails if the server refuses it. */
async function withServer(work) {
  try {
    const result = await work();
    if (!sender.isWaiting) say("");
    return result;
  } catch (error) {
    if (error instanceof SignedOut) return signedOut();
    if (!(error instanceof Unreachable)) throw error;
    say(t("No connection. Your work is safe. This page tries again by itself."));
    await new Promise((resolve) => setTimeout(resolve, 2000));
    return withServer(work);
  }
}

function waits(count, areStored) {
  if (count === 0) say("");
  else if (areStored) {
    say(
      plural(
        count,
        "No connection. {n} answer is saved on this device and will be sent when you are online again.",
        "No connection. {n} answers are saved on this device and will be sent when you are online again.",
      ),
    );
  } else {
    say(
      plural(
        count,
        "No connection. {n} answer waits on this page, because this device cannot save it. Keep the page open until you are online again.",
        "No connection. {n} answers wait on this page, because this device cannot save them. Keep the page open until you are online again.",
      ),
    );
  }
}

/** Whether the page says that the session has ended. */
let isSignedOut = false;

async function signedOut() {
  if (isSignedOut) return;
  isSignedOut = true;
  keepShown = () => {};
  const count = await sender.countWaiting();
  // They are sealed for a session that has ended.
  await sender.forget();
  timeLeft.hide();
  document.querySelector("[data-bar]")?.remove();
  const saved = count > 0 ? plural(count, "{n} answer did not arrive and must be given again.", "{n} answers did not arrive and must be given again.") : t("Everything that you sent is saved.");
  say("");
  show(part("h2", {}, t("You are signed out")), part("p", {}, `${t("Sign in to go on.")} ${saved}`), signInLink());
}

function signInLink() {
  return part("a", { class: "button main", href: `/sign-in?next=${encodeURIComponent(location.pathname)}` }, t("Sign in"));
}

/** The server refused something: reads the lesson again, and says the text if the lesson did not go on elsewhere. */
async function refused({ status: code }, text) {
  if (!(await read())) return;
  const time = lesson.attempt?.time;
  const isLate = time && time.leftMs === 0 && !time.allowsLate;
  await route();
  if (code === 409 && isLate) sayTooLate();
  else if (code === 409) say(t("This lesson went on in another window. Here is where you are now."));
  else if (code !== 404) say(text, "bad");
}

/** The server refused an answer. If the answers are being handed in, the others still count. */
async function answerRefused(error) {
  if (!isHandingIn) return refused(error, t("This answer could not be saved. Change it and try again."));
  isTooLate ||= error.status === 409;
}

const sayTooLate = () => say(t("The time was over before your last answer arrived."));

async function open() {
  if (await read()) await route();
}

/** Reads the lesson. If that is not possible, shows the reason and returns `undefined`. */
async function read() {
  try {
    lesson = await withServer(() => api.open());
    return lesson;
  } catch (error) {
    say("");
    const title = error.status === 404 ? t("This lesson is not here any more") : t("This lesson cannot be opened");
    return void show(part("h2", {}, title), part("p", { class: "actions" }, home()));
  }
}

/** Shows what the student does now. */
async function route() {
  const { mode, attempt } = lesson;
  document.querySelector("[data-bar]")?.remove();
  keepShown = () => {};
  if (!attempt?.time?.isRunning) timeLeft.hide();
  if (mode === "outside-test" && attempt?.isComplete) return finished();
  if (mode === "material" || mode === "outside-test" || mode === "app") return showMaterial(lesson, { show, home, markDone });
  if (mode === "unknown") return show(part("h2", {}, t("This lesson cannot be opened")), part("p", {}, t("Tell your teacher.")), home());
  if (!attempt || attempt.time?.isRunning === false) return intro();
  if (attempt.isComplete) return finished();
  return mode === "steps" ? step() : whole();
}

async function markDone() {
  lesson = (await change(() => api.markDone(), t("The server could not record that you are done. Try again."))) ?? lesson;
  await route();
}

function intro() {
  const about = lesson.mode === "steps" ? t("Answer questions until your score is 100.") : t("Answer all questions, then finish. You can change your answers until then.");
  const { attempt } = lesson;
  const after = attempt ? attempt.number - 1 : 0;
  const limit = attempt?.time?.limitMs ?? lesson.timeLimitMs;
  show(part("h2", {}, t("Ready?")), part("p", {}, about), limit && aboutTime(limit), part("p", { class: "actions" }, start(t("Start"), after), home()));
}

const aboutTime = (limitMs) => part("p", {}, t("You have {time}. The time begins when you start.", { time: inWords(limitMs) }));

function start(text, after) {
  return button(text, async () => {
    const opened = await change(() => api.start(after), t("The lesson could not be started. Try again."));
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
    let next;
    try {
      next = await withServer(() => api.next());
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      // Opening the lesson again would ask for the next question again, without end.
      const again = button(t("Try again"), open, { class: "main" });
      return show(part("h2", {}, t("The next question could not be loaded")), part("p", {}, t("Try again, or tell your teacher.")), part("p", { class: "actions" }, again, home()));
    }
    if (!next) return;
    lesson = next;
    if (lesson.questions.length === 0) return route();
    return step();
  }
  scoreBar(lesson.attempt);
  const card = questionCard(question, { title: t("Question {n}", { n: question.number + 1 }) });
  const check = button(t("Check"), async () => {
    if (!card.check() || !card.isAnswered()) return;
    card.disable();
    const reply = await sender.send(card.answer(lesson.attempt.key));
    if (reply) stepAnswered(reply);
  }, { class: "main" });
  card.form.append(part("p", { class: "actions" }, check));
  card.onSubmit(() => check.click());
  show(card.form);
}

function scoreBar({ score = 0 }) {
  bar(t("Score {score} of 100", { score }), score, 100);
}

function stepAnswered({ attempt, question }) {
  lesson = { ...lesson, attempt, questions: [] };
  scoreBar(attempt);
  const next = button(attempt.isComplete ? t("See my result") : t("Next question"), open, { class: "main" });
  const card = answeredCard(question);
  card.append(part("p", { class: "actions" }, next));
  show(card);
}

// All questions, one a page, scored together.

/** The place of the question that is shown; after the last one, the review. */
let place;
/** The key of the attempt that it belongs to. */
let placeOf;

function whole() {
  const { questions, attempt } = lesson;
  if (attempt.time) timeLeft.show(attempt.time);
  if (timeLeft.isOver && !attempt.time.allowsLate) return timeIsOver();
  if (placeOf !== attempt.key) {
    const open = questions.findIndex((one) => !isAnswered(one));
    place = open < 0 ? questions.length : open;
    placeOf = attempt.key;
  }
  return place >= questions.length ? review() : question(place);
}

const answered = (done, all) => t("{done} of {all} answered", { done, all });

const hasValue = (responses) => Object.values(responses ?? {}).some((value) => value !== null);

/** Whether a question has an answer. Responses without a value are none, and an unfinished answer is not sent yet. */
const isAnswered = ({ responses, unfinished }) => !unfinished && hasValue(responses);

function question(at) {
  const { questions, attempt } = lesson;
  place = at;
  bar(answered(questions.filter(isAnswered).length, questions.length), questions.filter(isAnswered).length, questions.length);
  const shown = questions[at];
  const card = questionCard({ ...shown, responses: shown.unfinished ?? shown.responses }, { title: t("Question {n} of {all}", { n: at + 1, all: questions.length }) });
  /** Sends the answer if it changed. An unfinished one stays on this page until the time is over; then the result is false. */
  const keep = () => {
    if (!card.hasChanged() && !shown.unfinished) return true;
    if (!card.isFinished()) {
      shown.unfinished = card.responses();
      return false;
    }
    shown.unfinished = undefined;
    shown.responses = card.responses();
    card.markSent();
    // The answer waits in the browser until the server has it; the next question need not wait for that.
    void sendAnswer(card.answer(attempt.key));
    return true;
  };
  keepShown = keep;
  const leaveTo = (showOther) => () => {
    keep();
    showOther();
  };
  const isLast = at + 1 === questions.length;
  const back = at > 0 && button(t("Back"), leaveTo(() => question(at - 1)));
  const next = isLast ? button(t("Check my answers"), leaveTo(review), { class: "main" }) : button(t("Next"), () => (keep() ? question(at + 1) : card.check()), { class: "main" });
  const all = !isLast && button(t("Check my answers"), leaveTo(review), { class: "quiet" });
  card.form.append(part("p", { class: "actions" }, ...[back, next, all].filter((one) => one)));
  card.onSubmit(() => next.click());
  show(card.form);
}

/** Sends the answer to the question that is shown, if it changed and may be sent. */
let keepShown = () => {};

async function sendAnswer(answer) {
  const reply = await sender.send(answer);
  if (reply) takeTime(reply.attempt);
}

/** Shows the time that the server says is left. A teacher may have given more. */
function takeTime(attempt) {
  if (isHandingIn || !attempt?.time || !lesson?.attempt?.time || attempt.key !== lesson.attempt.key) return;
  lesson = { ...lesson, attempt };
  if (attempt.time.isRunning) timeLeft.show(attempt.time);
}

/** Whether the answers are being handed in because the time is over. */
let isHandingIn = false;
/** Whether an answer came too late for that. */
let isTooLate = false;

/** The time of the lesson is over. If late answers count, the student goes on. */
async function timeIsOver() {
  if (isHandingIn || lesson.attempt.time.allowsLate) return;
  isHandingIn = true;
  isTooLate = false;
  keepShown();
  keepShown = () => {};
  show(part("h2", {}, t("The time is over")), part("p", {}, t("Your answers are handed in now.")));
  const opened = await change(handIn, t("Your answers could not be handed in. Try again.")).finally(() => (isHandingIn = false));
  if (!opened) return;
  lesson = opened;
  await route();
  if (isTooLate) sayTooLate();
}

/** Hands in the answers, unless the server says that there is time left. Returns the lesson after that. */
async function handIn() {
  const { attempt } = lesson;
  const opened = await api.open();
  if (opened.attempt?.key !== attempt.key || opened.attempt.isComplete) return opened;
  // Answers that are on their way are only in the questions of this page.
  if (opened.attempt.time.leftMs > 0) return { ...lesson, attempt: opened.attempt };
  sendUnfinished();
  await tabs.collect(true);
  // Refused answers no longer wait, so a second try sends the others.
  if (!(await sender.flush()) && (isSignedOut || !(await sender.flush()))) return undefined;
  return finish(attempt);
}

/** Sends the answers that this page still has because something is missing in them. */
function sendUnfinished() {
  const { attempt, questions } = lesson;
  for (const question of questions) {
    const { unfinished } = question;
    question.unfinished = undefined;
    if (hasValue(unfinished)) void sender.send(answerTo(question, unfinished, attempt.key));
  }
}

async function finish({ key }) {
  const opened = await api.finish(key);
  tabs.announceFinished();
  return opened;
}

/** Another tab hands in the answers: what this tab shows goes with them. */
async function storeShown(isTimeOver) {
  if (isSignedOut || lesson?.mode !== "whole" || !lesson.attempt) return;
  keepShown();
  if (isTimeOver) sendUnfinished();
  await sender.countWaiting();
}

/** Another tab has handed in the answers of this attempt. */
async function finishedElsewhere() {
  if (!isHandingIn && lesson?.attempt?.isComplete === false) await open();
}

/** What was answered, before the student finishes. */
function review() {
  const { questions, attempt } = lesson;
  keepShown = () => {};
  place = questions.length;
  const open = questions.filter((one) => !isAnswered(one)).length;
  bar(answered(questions.length - open, questions.length), questions.length - open, questions.length);
  const row = (one, at) => {
    const state = part("span", { class: `pill ${isAnswered(one) ? "good" : "warn"}` }, isAnswered(one) ? t("answered") : t("not answered"));
    return part("li", {}, button(t("Question {n}", { n: at + 1 }), () => question(at), { class: "quiet" }), state);
  };
  const handInAll = button(t("Finish"), async () => {
    await tabs.collect(false);
    // Every answer must arrive before the lesson is scored.
    if (!(await sender.flush())) return;
    const done = await change(() => finish(attempt), t("Your answers could not be handed in. Try again."));
    if (!done) return;
    lesson = done;
    await route();
  }, { class: "main" });
  const action = open === 0 ? handInAll : button(t("Answer the next question"), () => question(questions.findIndex((one) => !isAnswered(one))), { class: "main" });
  const text = open === 0 ? t("You answered everything. You can still change answers. Then finish.") : plural(open, "{n} question has no answer yet.", "{n} questions have no answer yet.");
  show(part("h2", {}, t("Your answers")), part("p", {}, text), part("ol", { class: "overview" }, ...questions.map(row)), part("p", { class: "actions" }, action));
}

// The end.

function finished() {
  const { attempt, mode } = lesson;
  const { title, sentences } = outcome(lesson);
  if (mode === "steps") scoreBar(attempt);
  const again = lesson.canStart && start(t("Try again"), attempt.number);
  const answers = mode !== "outside-test" && button(t("See my answers"), results);
  const home = part("a", { class: `button ${again && !attempt.isMastered ? "" : "main"}`, href: "/learn" }, t("Back to my lessons"));
  if (again && attempt.isMastered) again.className = "";
  const actions = attempt.isMastered ? [home, answers, again] : [again, answers, home];
  const time = again && lesson.timeLimitMs && aboutTime(lesson.timeLimitMs);
  const leads = sentences.map((text) => part("p", { class: "lead" }, text));
  show(part("h2", {}, title), ...leads, time, part("p", { class: "actions" }, ...actions.filter((one) => one)));
}

async function results() {
  const seen = await change(() => api.review(), t("Your answers cannot be shown now."));
  if (!seen) return;
  const cards = seen.questions.map((one, at) => answeredCard(one, t("Question {n}", { n: at + 1 }), "h3"));
  show(part("h2", {}, t("Your answers")), ...cards, part("p", { class: "actions" }, home()));
}

/** The page is seen again, perhaps after the device slept: its time may be over, and another tab or device may have sent answers. */
async function wake() {
  if (isSignedOut) return;
  timeLeft.check();
  void sender.flush();
  if (lesson?.mode !== "whole" || lesson.attempt?.isComplete !== false || isHandingIn) return;
  const { key } = lesson.attempt;
  const opened = await change(() => api.open(), "");
  if (!opened || isHandingIn || lesson.attempt?.key !== key) return;
  if (opened.attempt?.key === key && !opened.attempt.isComplete) {
    takeTime(opened.attempt);
    return takeAnswers(opened.questions);
  }
  lesson = opened;
  await route();
}

/** Takes answers from elsewhere to questions that have none here. */
function takeAnswers(questions) {
  const open = lesson.questions.filter((own) => !own.unfinished && !hasValue(own.responses));
  for (const own of open) own.responses = questions.find(({ id }) => id === own.id)?.responses;
  if (place >= lesson.questions.length && open.some(isAnswered)) review();
}

async function begin() {
  const isOpen = await withServer(async () => (await sender.open(), true));
  if (!isOpen) return;
  addEventListener("online", () => void sender.flush());
  document.addEventListener("resume", () => void wake());
  // A page that is hidden may never be shown again.
  document.addEventListener("visibilitychange", () => (document.visibilityState === "visible" ? void wake() : keepShown()));
  // What waited from before a reload arrives first, so the state that is read then has it.
  if (await sender.flush()) await open();
}
void begin();
