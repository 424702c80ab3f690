import { init } from "@lyceum/sdk";

interface Note {
  author: string;
  body: string;
}

// `init` finds the server and the player: the sandbox's demo user now, the signed-in student after a deploy.
// `backend` calls the routes in `server/api`, `learning` measures activities.
const { backend, learning } = await init();

const element = <T extends Element>(selector: string) => document.querySelector<T>(selector)!;
const input = element<HTMLInputElement>("#note");

const { visits } = await backend.post<{ visits: number }>("/visits");
const { code } = await backend.get<{ code: string }>("/code");
element("#visits").textContent = `This is visit ${visits}. Your code is ${code}.`;
await showNotes();
startActivity();

element<HTMLFormElement>("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  await backend.post("/notes", { body: input.value });
  input.value = "";
  const ended = await learning.endActivity({ correctQuestions: 1, totalQuestions: 1, xpEarned: 1 });
  element("#earned").textContent = ended.queued ? "The XP follow when you are online." : `You earned ${ended.xpAwarded} XP.`;
  await backend.post("/book");
  element<HTMLAnchorElement>("a").hidden = false;
  await showNotes();
  startActivity();
});

/** Begins an activity: from here on, the SDK measures the time in which the student is active. */
function startActivity() {
  learning.start({ activityId: "notes", activityName: "Write a note", subject: "Language", grade: 4 });
}

async function showNotes() {
  const notes = await backend.get<Note[]>("/notes");
  const lines = notes.map(({ author, body }) => {
    const line = document.createElement("li");
    line.textContent = `${author}: ${body}`;
    return line;
  });
  element("#notes").replaceChildren(...lines);
}
