import { init } from "@lyceum/sdk";

const QUESTIONS = 5;

// `init` finds the server and the player: the sandbox's demo user now, the signed-in student after a deploy.
const lyceum = await init();

const element = <T extends Element>(selector: string) => document.querySelector<T>(selector)!;
const form = element<HTMLFormElement>("form");
const label = element<HTMLLabelElement>("label");
const input = element<HTMLInputElement>("input");
const result = element<HTMLParagraphElement>("#result");

const player = lyceum.isDemo ? "visitor" : (await lyceum.users.me()).username;
element("#greeting").textContent = `Hello ${player}!`;

const digit = () => 2 + Math.floor(Math.random() * 8);
let factors = [digit(), digit()];
let asked = 1;
let correct = 0;

// From here on, the SDK measures the time in which the student is active.
lyceum.learning.start({
  activityId: "times-tables",
  activityName: "Times tables",
  subject: "Math",
  grade: 3,
});
ask();

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (Number(input.value) === factors[0]! * factors[1]!) correct += 1;
  if (asked === QUESTIONS) void end();
  else {
    factors = [digit(), digit()];
    asked += 1;
    ask();
  }
});

function ask() {
  label.textContent = `${asked}. How much is ${factors.join(" × ")}? `;
  input.value = "";
  input.focus();
}

async function end() {
  form.hidden = true;
  // No result is lost: while the server cannot be reached, the SDK keeps it and sends it later.
  const ended = await lyceum.learning.endActivity({
    correctQuestions: correct,
    totalQuestions: QUESTIONS,
  });
  await lyceum.scores.submit(correct);
  const earned = ended.queued ? "The XP follow when you are online." : `You earned ${ended.xpAwarded} XP.`;
  result.textContent = `${correct} of ${QUESTIONS} are correct. ${earned}`;
}
