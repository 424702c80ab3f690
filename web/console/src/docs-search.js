// Shows search results of the documentation while the reader types. Without JavaScript, the form sends the search.
const PAUSE_MS = 120;
const form = document.querySelector("[data-docs-search]");

if (form) {
  const [field, shown] = [form.elements.q, form.querySelector("[data-found]")];
  let waiting;
  let query = "";
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, PAUSE_MS);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    field.value = "";
    shown.replaceChildren();
  });

  async function show() {
    query = field.value.trim();
    if (!query) return shown.replaceChildren();
    const requested = query;
    const answer = await fetch(`/docs/search?${new URLSearchParams({ q: requested, part: "1" })}`);
    // The reader typed more meanwhile, and a newer request is on its way.
    if (requested !== query || !answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    shown.replaceChildren(...page.body.children);
  }
}
