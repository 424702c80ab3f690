// A part of a page that is on its way is shown anew until it has arrived; without this a link does.
const part = document.querySelector("[data-refresh]");

async function look() {
  // A server that is away for a while comes back.
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
