import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";

const SDK = new URL("../sdk/dist/", import.meta.url);

const TYPES = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html" };

/** Serves the pages by path, the SDK under `/sdk/` and the files of a folder; answers the origin. */
export async function serve(t, pages, folder) {
  const server = createServer(async (request, response) => {
    const path = request.url.split("?")[0];
    if (path.startsWith("/sdk/")) {
      const module = await readFile(new URL(path.slice("/sdk/".length), SDK));
      return response.writeHead(200, { "content-type": "text/javascript" }).end(module);
    }
    const page = pages[path] ?? (folder && (await readFile(join(folder, path)).catch(() => undefined)));
    response.writeHead(page ? 200 : 404, { "content-type": TYPES[extname(path)] ?? "text/html" }).end(page);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}
