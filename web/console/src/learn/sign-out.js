// Signing out leaves nothing of the student in this browser, also in its other tabs.
import { removeAll } from "./waiting.js";

/** The server has ended the session after this time. */
const SIGN_OUT_MS = 2_000;
const tabs = new BroadcastChannel("lyceum-sign-out");

document.querySelector("form[action='/sign-out']")?.addEventListener("submit", () => {
  removeAll();
  tabs.postMessage("signed out");
});

tabs.addEventListener("message", () => {
  document.body.replaceChildren();
  // Without a session, the server redirects to the page for signing in.
  setTimeout(() => location.reload(), SIGN_OUT_MS);
});

// A page that the browser keeps for its back button may be shown to the next student.
addEventListener("pagehide", ({ persisted }) => {
  if (persisted) document.body.hidden = true;
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
