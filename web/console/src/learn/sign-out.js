// Signing out leaves nothing of the student in this browser, also in its other tabs.
import { removeAll } from "./waiting.js";

/** The server has ended the session after this time. */
const SIGN_OUT_MS = 2_000;
const form = document.querySelector("form[action='/sign-out']");
const tabs = new BroadcastChannel("lyceum-session");

form.addEventListener("submit", () => {
  removeAll();
  tabs.postMessage("signed out");
});

/** Removes the content of the page and loads it again, after a time. Without a session, the server redirects to the sign-in page. */
function leave(afterMs) {
  document.body.replaceChildren();
  setTimeout(() => location.reload(), afterMs);
}

/** Leaves the page if the browser has another session by now. */
async function checkSession() {
  const headers = { "page-token": form.elements.token.value };
  const answer = await fetch("/api/learn/key", { headers, cache: "no-store" }).catch(() => undefined);
  if (answer?.status === 401) leave(0);
}

tabs.addEventListener("message", ({ data }) => (data === "opened" ? void checkSession() : leave(SIGN_OUT_MS)));
tabs.postMessage("opened");

// A page that the browser keeps for its back button may be shown to the next student.
addEventListener("pagehide", ({ persisted }) => {
  if (persisted) document.body.hidden = true;
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
