// What the page of a lesson tells a student about an answer and about an attempt.
import { number, plural } from "./part.js";

/** For each result of an answer: the words, and the tone of their box. */
export const RESULTS = {
  correct: { text: "Correct!", tone: "good" },
  "partly-correct": { text: "Partly right.", tone: "warn" },
  wrong: { text: "Not right this time.", tone: "bad" },
  waiting: { text: "Saved. Your teacher will read this answer.", tone: "warn" },
};

/** What came of a lesson's complete attempt, as a heading and sentences. */
export function outcome({ attempt, mode, canStart }) {
  const sentences = [];
  if (attempt.waitingAnswers > 0) {
    sentences.push(`Your teacher still reads ${plural(attempt.waitingAnswers, "answer", "answers")}. Your points come after that.`);
    return { title: "Handed in", sentences };
  }
  if (mode === "whole" && attempt.scoredAnswers > 0) {
    sentences.push(`${attempt.correctAnswers} of ${plural(attempt.scoredAnswers, "answer", "answers")} correct. Your score is ${number(attempt.score)} of 100.`);
  }
  if (mode === "outside-test") sentences.push(`Your score is ${number(attempt.score)} of 100.`);
  if (attempt.xp > 0) sentences.push(`You earned ${number(attempt.xp)} XP.`);
  if (!attempt.isMastered && canStart) sentences.push("You can practise and try again.");
  return { title: attempt.isMastered ? "Well done!" : "Finished", sentences };
}
