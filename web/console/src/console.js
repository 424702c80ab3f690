// Enhances the console's pages. Every page also works without JavaScript.
import "./live.js";
import "./drop.js";
import "./search-dialog.js";
import "./refresh.js";
import "./follow.js";
import "./docs-search.js";

// The server shows days and times in the viewer's time zone, which this cookie tells it.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const shown = document.documentElement.dataset.zone;
if (zone && shown && zone !== shown && !document.cookie.includes(`lyceum-zone=${zone}`)) {
  document.cookie = `lyceum-zone=${zone}; path=/; max-age=31536000; samesite=lax`;
  if (document.cookie.includes(`lyceum-zone=${zone}`)) location.reload();
}

// Choosing a filter with the mouse submits the form at once, also in a list that was refreshed. With the keyboard,
// arrow keys pass through all options, so the form is submitted only by its button.
let typed;
document.addEventListener("keydown", ({ target }) => (typed = target));
document.addEventListener("pointerdown", () => (typed = undefined));
document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-submits]") && target !== typed) target.form.requestSubmit();
});

// Scroll tables of days to the newest days, which are at the right.
for (const part of document.querySelectorAll("[data-newest]")) part.scrollLeft = part.scrollWidth;

// `/` focuses the search field.
document.addEventListener("keydown", (event) => {
  const field = document.querySelector(".search input[type=search]");
  const types = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && field && !types && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.focus();
  }
});
