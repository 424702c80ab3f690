// What pages do beyond HTML; each works without it.
import "./live.js";
import "./drop.js";
import "./refresh.js";
import "./search.js";

// Days and times are shown in the zone of whoever looks: the server learns it once.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const shown = document.documentElement.dataset.zone;
if (zone && shown && zone !== shown && !document.cookie.includes(`lyceum-zone=${zone}`)) {
  document.cookie = `lyceum-zone=${zone}; path=/; max-age=31536000; samesite=lax`;
  if (document.cookie.includes(`lyceum-zone=${zone}`)) location.reload();
}

// A choice above a list takes effect at once, also in a list that was brought up to date. By keyboard, where
// arrows pass through all choices, it does when the form is sent.
let typed;
document.addEventListener("keydown", ({ target }) => (typed = target));
document.addEventListener("pointerdown", () => (typed = undefined));
document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-submits]") && target !== typed) target.form.requestSubmit();
});

// A table of days shows its newest ones first; the older ones are to the left of them.
for (const part of document.querySelectorAll("[data-newest]")) part.scrollLeft = part.scrollWidth;

// `/` goes to the search field.
document.addEventListener("keydown", (event) => {
  const field = document.querySelector(".search input[type=search]");
  const types = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && field && !types && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.focus();
  }
});

// What shows the present is brought up to date, unless somebody is at work in it or nobody looks.
for (const part of document.querySelectorAll("[data-live]")) {
  setInterval(async () => {
    if (document.hidden || part.contains(document.activeElement)) return;
    const answer = await fetch(location.href).catch(() => undefined);
    if (!answer?.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById(part.id);
    if (fresh && !part.contains(document.activeElement)) part.replaceChildren(...fresh.childNodes);
  }, Number(part.dataset.live) * 1000);
}
