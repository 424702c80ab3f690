import type { Client } from "@lyceum/sdk";
import { useEffect, useState } from "react";

const QUESTIONS = 5;

const digit = () => 2 + Math.floor(Math.random() * 8);
const newQuestion = () => [digit(), digit()] as const;

export function App({ lyceum, player }: { lyceum: Client; player: string }) {
  const [[left, right], setQuestion] = useState(newQuestion);
  const [asked, setAsked] = useState(1);
  const [correct, setCorrect] = useState(0);
  const [answer, setAnswer] = useState("");
  const [result, setResult] = useState("");

  useEffect(() => {
    // From here on, the SDK measures the time in which the student is active.
    lyceum.learning.start({
      activityId: "times-tables",
      activityName: "Times tables",
      subject: "Math",
      grade: 3,
    });
  }, [lyceum]);

  async function submit() {
    const total = Number(answer) === left * right ? correct + 1 : correct;
    setCorrect(total);
    setAnswer("");
    if (asked < QUESTIONS) {
      setAsked(asked + 1);
      setQuestion(newQuestion);
      return;
    }
    // No result is lost: while the server cannot be reached, the SDK keeps it and sends it later.
    const ended = await lyceum.learning.endActivity({
      correctQuestions: total,
      totalQuestions: QUESTIONS,
    });
    await lyceum.scores.submit(total);
    const earned = ended.queued ? "The XP follow when you are online." : `You earned ${ended.xpAwarded} XP.`;
    setResult(`${total} of ${QUESTIONS} are correct. ${earned}`);
  }

  return (
    <>
      <h1>{{name}}</h1>
      <p>Hello {player}!</p>
      {result ? (
        <p role="status">{result}</p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          <label>
            {asked}. How much is {left} × {right}?{" "}
            <input
              autoFocus
              inputMode="numeric"
              required
              value={answer}
              onChange={(event) => setAnswer(event.target.value)}
            />
          </label>{" "}
          <button>Answer</button>
        </form>
      )}
    </>
  );
}
