// Adds rows from a server stream to a table, newest first.
import { t } from "./language.js";

const ROWS_MAX = 200;

const cells = {
  events: (event) => {
    const who = event.actor?.email ?? event.actor?.id ?? event.actor ?? "";
    const named = event.edApp ?? event.object?.app;
    const app = named?.name ?? named?.id ?? named ?? event.sensor ?? "";
    const id = encodeURIComponent(event.externalId);
    return [{ text: time(event.eventTime), href: `/console/events/one?id=${id}` }, event.type, event.action, who, app];
  },
  logs: (line) => [time(line.at), { text: line.stream, tone: { error: "bad", engine: "warn" }[line.stream] }, line.text],
};

const time = (text) => {
  const zone = document.documentElement.dataset.zone;
  return new Date(text).toLocaleTimeString("en-GB", { timeZone: zone });
};

for (const section of document.querySelectorAll("[data-stream]")) {
  const part = (name) => section.querySelector(`[data-${name}]`);
  const [pause, state, seen, body] = [part("pause"), part("state"), part("seen"), section.querySelector("tbody")];
  const headings = [...section.querySelectorAll("thead th")].map((heading) => heading.textContent.trim());
  let source;
  let count = 0;
  // The number of the last row lets the stream continue after it when the connection is lost.
  let { after } = section.dataset;

  const show = (word, tone) => {
    state.textContent = word;
    state.className = `pill ${tone}`;
  };
  const add = ({ data, lastEventId }) => {
    // An empty list has no table yet.
    if (!body) return location.reload();
    if (after) after = lastEventId;
    const row = document.createElement("tr");
    for (const [at, value] of cells[section.dataset.kind](JSON.parse(data)).entries()) {
      const { text, href, tone } = typeof value === "object" && value ? value : { text: value ?? "" };
      const cell = row.insertCell();
      cell.dataset.label = headings[at];
      const inside = href ? Object.assign(document.createElement("a"), { href }) : tone ? Object.assign(document.createElement("span"), { className: `pill ${tone}` }) : cell;
      if (inside !== cell) cell.append(inside);
      inside.textContent = String(text);
    }
    body.prepend(row);
    while (body.rows.length > ROWS_MAX) body.lastElementChild.remove();
    count += 1;
    seen.textContent = t("{n} arrived since this page was opened", { n: count });
  };
  const begin = () => {
    show(t("connecting"), "");
    const { stream } = section.dataset;
    source = new EventSource(after ? `${stream}${stream.includes("?") ? "&" : "?"}after=${after}` : stream);
    source.addEventListener("open", () => show(t("live"), "good"));
    source.addEventListener("error", () => show(t("waiting for the server"), "warn"));
    source.addEventListener("message", add);
    pause.textContent = t("Pause");
  };
  pause.hidden = false;
  state.hidden = false;
  pause.addEventListener("click", () => {
    if (source.readyState !== EventSource.CLOSED) {
      source.close();
      show(t("paused"), "warn");
      pause.textContent = t("Resume");
    } else begin();
  });
  begin();
}
