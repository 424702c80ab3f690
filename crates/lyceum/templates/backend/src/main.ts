import { init } from "@lyceum/sdk";

interface Note {
  author: string;
  body: string;
}

// `init` finds the server and the player: the sandbox's demo user now, the signed-in student after a deploy.
// `backend` calls the routes in `server/api`.
const { backend } = await init();

const element = <T extends Element>(selector: string) => document.querySelector<T>(selector)!;
const input = element<HTMLInputElement>("#note");

const { visits } = await backend.post<{ visits: number }>("/visits");
const { code } = await backend.get<{ code: string }>("/code");
element("#visits").textContent = `This is visit ${visits}. Your code is ${code}.`;
await showNotes();

element<HTMLFormElement>("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  await backend.post("/notes", { body: input.value });
  input.value = "";
  await showNotes();
});

async function showNotes() {
  const notes = await backend.get<Note[]>("/notes");
  const lines = notes.map(({ author, body }) => {
    const line = document.createElement("li");
    line.textContent = `${author}: ${body}`;
    return line;
  });
  element("#notes").replaceChildren(...lines);
}
