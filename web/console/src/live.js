// Tables that fill themselves from a stream of the server, newest first.
const ROWS_MAX = 200;

const cells = {
  events: (event) => {
    const who = event.actor?.email ?? event.actor?.id ?? event.actor ?? "";
    const app = event.edApp?.name ?? event.edApp?.id ?? event.edApp ?? event.sensor ?? "";
    const id = encodeURIComponent(event.externalId);
    return [{ text: time(event.eventTime), href: `/console/events/one?id=${id}` }, event.type, event.action, who, app];
  },
  logs: (line) => [time(line.at), line.stream, line.text],
};

const time = (text) => {
  const zone = document.documentElement.dataset.zone;
  return new Date(text).toLocaleTimeString("en-GB", { timeZone: zone });
};

for (const section of document.querySelectorAll("[data-stream]")) {
  const part = (name) => section.querySelector(`[data-${name}]`);
  const [pause, state, seen, body] = [part("pause"), part("state"), part("seen"), section.querySelector("tbody")];
  let source;
  let count = 0;

  const show = (word, tone) => {
    state.textContent = word;
    state.className = `pill ${tone}`;
  };
  const add = ({ data }) => {
    const row = document.createElement("tr");
    for (const value of cells[section.dataset.kind](JSON.parse(data))) {
      const { text, href } = typeof value === "object" && value ? value : { text: value ?? "" };
      const cell = row.insertCell();
      const inside = href ? cell.appendChild(Object.assign(document.createElement("a"), { href })) : cell;
      inside.textContent = String(text);
    }
    body.prepend(row);
    while (body.rows.length > ROWS_MAX) body.lastElementChild.remove();
    count += 1;
    seen.textContent = count === 1 ? "1 arrived since this page was opened" : `${count} arrived since this page was opened`;
  };
  const begin = () => {
    show("connecting", "");
    source = new EventSource(section.dataset.stream);
    source.addEventListener("open", () => show("live", "good"));
    source.addEventListener("error", () => show("waiting for the server", "warn"));
    source.addEventListener("message", add);
    pause.textContent = "Pause";
  };
  pause.hidden = false;
  pause.addEventListener("click", () => {
    if (source.readyState !== EventSource.CLOSED) {
      source.close();
      show("paused", "warn");
      pause.textContent = "Go on";
    } else begin();
  });
  begin();
}
