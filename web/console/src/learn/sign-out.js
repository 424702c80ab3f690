// Signing out leaves nothing of the student in this browser, also in its other tabs.
import { removeAll } from "./waiting.js";

/** The time between two questions to the server whether the session has ended. */
const RETRY_MS = 500;
const form = document.querySelector("form[action='/sign-out']");
const tabs = new BroadcastChannel("lyceum-session");

form.addEventListener("submit", () => {
  removeAll();
  tabs.postMessage("signed out");
});

/** Whether the session in which this page was opened has ended. */
async function hasEnded() {
  const headers = { "page-token": form.elements.token.value };
  const answer = await fetch("/api/learn/key", { headers, cache: "no-store" }).catch(() => undefined);
  return answer?.status === 401;
}

/** Removes the content of the page, and loads it again when the session has ended: the server redirects to the sign-in page. */
async function leave() {
  document.body.replaceChildren();
  while (!(await hasEnded())) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  location.reload();
}

tabs.addEventListener("message", async ({ data }) => {
  // Another page may belong to the same session.
  if (data !== "opened" || (await hasEnded())) await leave();
});
tabs.postMessage("opened");

// A page that the browser keeps for its back button may be shown to the next student.
addEventListener("pagehide", ({ persisted }) => {
  if (persisted) document.body.hidden = true;
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
