// Reloads a part of a page until the work that it shows is done. Without JavaScript, the page has a link to reload it.
const part = document.querySelector("[data-refresh]");

async function look() {
  // Try again: the server may be unreachable for a while.
  const answer = await fetch(location.href).catch(() => undefined);
  if (!answer?.ok) return later();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.querySelector("[data-refresh]");
  part.replaceChildren(...next.childNodes);
  part.dataset.refresh = next.dataset.refresh;
  later();
}

function later() {
  const pause = Number(part.dataset.refresh);
  if (pause > 0) setTimeout(look, pause);
}

if (part) later();
