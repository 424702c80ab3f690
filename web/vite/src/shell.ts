import type { IncomingMessage } from "node:http";

import type { Development } from "./development.js";

/** Whether a browser asks for the page itself and not for the frame in it (Fetch Metadata). */
export function wantsShell(request: IncomingMessage): boolean {
  return request.method === "GET" && request.headers["sec-fetch-dest"] === "document";
}

/** The page that embeds the game as a platform does: it greets the game and shows its alerts. */
export function shell({ project, injected }: Development): string {
  const { baseUrl, token, gameId } = injected ?? {};
  const connection = JSON.stringify({ baseUrl, token, gameId, mode: "platform" }).replace(/</g, "\\u003c");
  const title = project.name.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
  html, body, iframe { margin: 0; border: 0; width: 100%; height: 100%; display: block; }
  body { overflow: hidden; }
  #said { position: fixed; inset: auto 1rem 1rem; padding: .75rem 1rem; border-radius: .5rem;
    background: #222; color: #fff; font: 1rem system-ui, sans-serif; }
  #said:empty { display: none; }
</style>
<iframe title="${title}" allow="autoplay; fullscreen; gamepad"></iframe>
<p id="said" role="status"></p>
<script type="module">
  const connection = ${connection};
  const frame = document.querySelector("iframe");
  const statusLine = document.querySelector("#said");
  const tell = (type, payload) => frame.contentWindow.postMessage({ type, payload }, location.origin);
  const greet = () => tell("LYCEUM_INIT", connection);
  frame.addEventListener("load", greet);
  addEventListener("message", ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== location.origin) return;
    if (data?.type === "LYCEUM_HELLO") greet();
    if (data?.type === "LYCEUM_TOKEN_REQUEST") tell("LYCEUM_TOKEN_REFRESH", { token: connection.token });
    if (data?.type === "LYCEUM_DISPLAY_ALERT") statusLine.textContent = data.payload.message;
    if (data?.type === "LYCEUM_EXIT") {
      frame.remove();
      statusLine.textContent = "The game has ended; reload to play again";
    }
  });
  frame.src = location.href;
</script>
</html>
`;
}
