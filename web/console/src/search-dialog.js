// Ctrl-K, on a Mac Command-K, opens the search, which finds while the person types. Without JavaScript, the link leads
// to its page.
const PAUSE_MS = 150;
// On a Mac, Ctrl-K in a field deletes to the end of the line.
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
const dialog = document.querySelector("#find");

if (dialog) {
  const field = dialog.querySelector("input");
  const list = dialog.querySelector("[role=listbox]");
  const status = dialog.querySelector("[role=status]");
  let timer;
  let isAsking = false;
  /** The text that the list belongs to. */
  let listedText;

  function open() {
    if (dialog.open) return;
    dialog.showModal();
    field.select();
    listedText = undefined;
    refresh();
  }

  if (isMac) {
    for (const link of document.querySelectorAll("[aria-keyshortcuts='Control+K']")) {
      link.setAttribute("aria-keyshortcuts", "Meta+K");
      link.querySelector("kbd").textContent = "⌘ K";
    }
  }
  document.addEventListener("keydown", (event) => {
    const isWithModifier = isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
    // Browsers that fill in a form send events without a key.
    if (event.key?.toLowerCase() !== "k" || !isWithModifier || event.altKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !event.target.closest("[data-find]")) return;
    event.preventDefault();
    document.querySelector("#navigation:popover-open")?.hidePopover();
    open();
  });
  // A click beside the dialog closes it.
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(refresh, PAUSE_MS);
  });

  /** Asks for the text in the field, one request at a time, and again if the text changed meanwhile. */
  async function refresh() {
    if (isAsking) return;
    isAsking = true;
    try {
      let text = listedText;
      while (dialog.open && text !== field.value.trim()) {
        text = field.value.trim();
        await ask(text);
      }
    } finally {
      isAsking = false;
    }
  }

  async function ask(text) {
    listedText = undefined;
    let parts = [];
    let message = dialog.dataset.problem;
    try {
      const answer = await fetch(`/console/search?${new URLSearchParams({ q: text, part: "1" })}`);
      if (answer.ok && !answer.redirected) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        message = page.querySelector("[data-count]").textContent;
        parts = [...page.querySelectorAll("[role=group]")];
        listedText = text;
      }
    } catch {
      // The network failed; the status says what to do.
    }
    list.replaceChildren(...parts);
    status.textContent = message;
    field.setAttribute("aria-expanded", String(parts.length > 0));
    choose(options()[0]);
  }

  const options = () => [...list.querySelectorAll("[role=option]")];
  const chosen = () => list.querySelector("[aria-selected=true]");

  function choose(option) {
    chosen()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) field.setAttribute("aria-activedescendant", option.id);
    else field.removeAttribute("aria-activedescendant");
  }

  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const all = options();
      if (all.length > 0) choose(all.at((all.indexOf(chosen()) + step) % all.length));
    }
    // Enter before the results of the whole text arrived sends the form, which leads to the page of the search.
    if (event.key === "Enter" && chosen() && listedText === field.value.trim()) {
      event.preventDefault();
      chosen().click();
    }
  });
}
