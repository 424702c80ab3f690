// What the page of a lesson tells a student about an answer and about an attempt.
import { plural, t } from "../language.js";

/** For each result of an answer: the words, and the tone of their box. */
export const RESULTS = {
  correct: { text: t("Correct!"), tone: "good" },
  "partly-correct": { text: t("Partly right."), tone: "warn" },
  wrong: { text: t("Not right this time."), tone: "bad" },
  waiting: { text: t("Saved. Your teacher will read this answer."), tone: "warn" },
};

/** What came of a lesson's complete attempt, as a heading and sentences. */
export function outcome({ attempt, mode, canStart }) {
  const sentences = [];
  if (attempt.waitingAnswers > 0) {
    sentences.push(plural(attempt.waitingAnswers, "Your teacher still reads {n} answer. Your points come after that.", "Your teacher still reads {n} answers. Your points come after that."));
    return { title: t("Handed in"), sentences };
  }
  if (mode === "whole" && attempt.scoredAnswers > 0) {
    const { correctAnswers: correct, score } = attempt;
    sentences.push(
      plural(
        attempt.scoredAnswers,
        "{correct} of {n} answer correct. Your score is {score} of 100.",
        "{correct} of {n} answers correct. Your score is {score} of 100.",
        { correct, score },
      ),
    );
  }
  if (mode === "outside-test") sentences.push(t("Your score is {score} of 100.", { score: attempt.score }));
  if (attempt.xp > 0) sentences.push(t("You earned {xp} XP.", { xp: attempt.xp }));
  if (!attempt.isMastered && canStart) sentences.push(t("You can practise and try again."));
  return { title: attempt.isMastered ? t("Well done!") : t("Finished"), sentences };
}
