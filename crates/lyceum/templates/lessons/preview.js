// Shows each question as a student sees it. The sandbox stores and scores it, so the preview gives the scores of a
// real server. This page knows only choices; an app for students can show all interactions of QTI.

const items = import.meta.glob(["./content/*.xml", "!./content/test.xml"], { eager: true, query: "?raw", import: "default" });
// The Vite plugin tells the page where the sandbox is.
const server = window.__LYCEUM__?.baseUrl.replace(/\/api$/, "");
const main = document.querySelector("main");

if (server) for (const xml of Object.values(items)) main.append(await question(xml));
else main.textContent = "The preview needs the sandbox: run `npm run dev`.";

async function question(xml) {
  const root = parse(xml);
  const id = root.getAttribute("identifier");
  const stored = await call("PUT", `/assessment-items/${id}`, { rawXml: xml });
  if (stored.status === 404) await call("POST", "/assessment-items", { format: "xml", xml });
  const { body } = await call("GET", `/assessment-items/${id}/candidate`);
  const shown = parse(body.rawXml);
  const form = document.createElement("form");
  const fieldset = form.appendChild(document.createElement("fieldset"));
  fieldset.appendChild(document.createElement("legend")).textContent = shown.querySelector("qti-prompt").textContent;
  for (const choice of shown.querySelectorAll("qti-simple-choice")) {
    const label = fieldset.appendChild(document.createElement("label"));
    const input = document.createElement("input");
    Object.assign(input, { type: "radio", name: "RESPONSE", value: choice.getAttribute("identifier") });
    label.append(input, ` ${choice.textContent}`);
  }
  const score = form.appendChild(document.createElement("output"));
  form.addEventListener("change", async () => {
    const response = new FormData(form).get("RESPONSE");
    const answer = await call("POST", `/assessment-items/${id}/process-response`, { identifier: "RESPONSE", response });
    score.textContent = `Score: ${answer.body.score}`;
  });
  return form;
}

function parse(xml) {
  return new DOMParser().parseFromString(xml, "application/xml").documentElement;
}

/** Calls the sandbox. It shows what is wrong with a file that the sandbox refuses. */
async function call(method, path, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(server + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const answer = { status: response.status, body: await response.json() };
  if (!response.ok && response.status !== 404) main.append(`${path}: ${answer.body.message}`);
  return answer;
}
