import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const SDK = new URL("../sdk/dist/", import.meta.url);

/** Serves the pages by path, and the SDK under `/sdk/`; answers the origin. */
export async function serve(t, pages) {
  const server = createServer(async (request, response) => {
    const path = request.url.split("?")[0];
    if (path.startsWith("/sdk/")) {
      const module = await readFile(new URL(path.slice("/sdk/".length), SDK));
      return response.writeHead(200, { "content-type": "text/javascript" }).end(module);
    }
    const page = pages[path];
    response.writeHead(page ? 200 : 404, { "content-type": "text/html" }).end(page);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}
