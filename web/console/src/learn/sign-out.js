// Signing out leaves nothing of the student in this browser.
import { removeAll } from "./waiting.js";

document.querySelector("form[action='/sign-out']")?.addEventListener("submit", removeAll);
