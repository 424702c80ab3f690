// Keeps the live parts of a page up to date: every so many seconds, and at once if the page has a stream that says when
// something happened. A part that the viewer is using stays as it is, and so does a hidden page.
import { t } from "./language.js";

const parts = [...document.querySelectorAll("[data-live]")];
const state = document.querySelector("[data-follow]");

let isBusy = false;
let isDue = false;

async function renew() {
  isDue = true;
  if (isBusy || document.hidden) return;
  [isBusy, isDue] = [true, false];
  const began = performance.now();
  await load();
  // In a large network somebody always does something. Then the page is loaded a tenth of the time, because everybody's
  // figures cost the server more than one student's.
  setTimeout(
    () => {
      isBusy = false;
      if (isDue) renew();
    },
    9 * (performance.now() - began),
  );
}

async function load() {
  const answer = await fetch(location.href).catch(() => undefined);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of parts) {
    const fresh = page.getElementById(part.id);
    if (fresh && !part.contains(document.activeElement)) part.replaceChildren(...fresh.childNodes);
  }
}

if (parts.length > 0) {
  setInterval(renew, Math.min(...parts.map((part) => Number(part.dataset.live))) * 1000);
  document.addEventListener("visibilitychange", () => isDue && renew());
}

if (state) {
  const show = (word, tone) => Object.assign(state, { textContent: word, className: `pill ${tone}`, hidden: false });
  const source = new EventSource(state.dataset.follow);
  source.addEventListener("open", () => show(t("live"), "good"));
  source.addEventListener("error", () => show(t("waiting for the server"), "warn"));
  source.addEventListener("message", renew);
}
