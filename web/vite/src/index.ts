import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import type { ErrorPayload, Plugin, ResolvedConfig, ViteDevServer } from "vite";

import type { BackendFailure } from "./backend.js";
import { Development } from "./development.js";
import { hotKeys } from "./keys.js";
import type { Options } from "./options.js";
import { pack } from "./pack.js";
import { CONFIG_FILES, ROUTES, readProject } from "./project.js";
import { shell, wantsShell } from "./shell.js";

export type { LearningRole, Mode, Options, PlatformRole } from "./options.js";

/** What of the page's host is the backend's. */
const PROXIED = "^/api(?:[/?]|$)";

const { version } = createRequire(import.meta.url)("../package.json") as { version: string };

/** Where the plugin keeps what it makes. */
const FOLDER = ".lyceum";

/**
 * The Lyceum plugin: in development a sandbox with the project as a game runs beside Vite and the SDK
 * finds it; a build is packed into `.lyceum/<slug>.zip`.
 */
export function lyceum(options: Options = {}): Plugin {
  let config: ResolvedConfig;
  let failed = false;
  return {
    name: "lyceum",

    async config(user, { command }) {
      if (command !== "serve") return undefined;
      const root = resolve(user.root ?? process.cwd());
      const url = await Development.of(root).backendUrl(options, await readProject(root));
      return url ? { server: { proxy: { [PROXIED]: { target: url, ws: true } } } } : undefined;
    },

    configResolved(resolved) {
      config = resolved;
    },

    async configureServer(server) {
      const development = Development.of(config.root);
      const { verbose } = options.sandbox ?? {};
      try {
        const project = await readProject(config.root);
        await development.hold(options, project, {
          says: (line) => verbose && config.logger.info(line),
          hears: (line) => config.logger.info(line, { timestamp: true }),
          shows: (failure) => server.ws.send(failure ? overlay(failure, config.root) : { type: "full-reload" }),
          fails: (message) => config.logger.error(`lyceum: ${message}`, { timestamp: true }),
          recovers(message) {
            config.logger.info(`lyceum: ${message}`, { timestamp: true });
            server.ws.send({ type: "full-reload" });
          },
        });
      } catch (error) {
        await development.release();
        throw error;
      }
      // A page that loads while the backend is broken shows why.
      server.ws.on("connection", () => {
        if (development.failure) server.ws.send(overlay(development.failure, config.root));
      });
      server.httpServer?.once("close", () => void development.release());
      server.bindCLIShortcuts({ customShortcuts: hotKeys });
      printBlock(server, development);
      const configs = CONFIG_FILES.map((name) => join(config.root, name));
      server.watcher.on("all", (event, file) => {
        const hasBackend = development.project.routes !== undefined;
        const begins = !hasBackend && event === "addDir" && file === join(config.root, ROUTES);
        if (configs.includes(file) || begins) void server.restart();
      });
      server.middlewares.use((request, response, next) => {
        const isBackend = server.config.server.proxy?.[PROXIED] && new RegExp(PROXIED).test(request.url ?? "");
        const isGame = development.mode === "platform" && development.injected && !isBackend;
        if (!isGame || !wantsShell(request)) return next();
        response.setHeader("content-type", "text/html; charset=utf-8");
        response.setHeader("cache-control", "no-store");
        // The same address is a page or a frame.
        response.setHeader("vary", "sec-fetch-dest");
        response.end(shell(development));
      });
    },

    transformIndexHtml(_html, { server }) {
      const injected = server && Development.of(config.root).injected;
      if (!injected) return [];
      const children = `window.__LYCEUM__ = ${JSON.stringify(injected).replace(/</g, "\\u003c")}`;
      return [{ tag: "script", children, injectTo: "head-prepend" }];
    },

    buildEnd(error) {
      failed = error !== undefined;
    },

    closeBundle: {
      order: "post",
      sequential: true,
      async handler() {
        if (config.command !== "build" || config.build.ssr || failed || options.export?.autoZip === false) return;
        const { slug } = await readProject(config.root);
        const { path, bytes, changed } = pack(
          resolve(config.root, config.build.outDir),
          join(config.root, FOLDER, `${slug}.zip`),
          new Date(),
        );
        const size = `${(bytes / 1024).toFixed(2)} KB`;
        config.logger.info(
          `packed ${join(FOLDER, path.split(/[\\/]/).pop()!)}  ${size}${changed ? "" : ", unchanged"}`,
        );
      },
    },
  };
}

export default lyceum;

/** Vite's overlay with a failure of the backend. */
function overlay({ message, stack, place, hint }: BackendFailure, root: string): ErrorPayload {
  const err: ErrorPayload["err"] = { message: hint ? `${message}\n\n${hint}` : message, stack, plugin: "lyceum" };
  if (place) {
    const { file, line, column, frame } = place;
    Object.assign(err, { id: join(root, file), loc: { file: join(root, file), line, column }, frame });
  }
  return { type: "error", err };
}

/** Where pages find the backend. */
function backendLine(server: ViteDevServer): [string, string][] {
  const proxy = server.config.server.proxy?.[PROXIED];
  const target = typeof proxy === "object" ? String(proxy.target) : undefined;
  const page = server.resolvedUrls?.local[0]?.replace(/\/$/, "") ?? "";
  return target ? [["Backend:", `${page}/api (via ${new URL(target).port})`]] : [];
}

/** Prints what runs where below Vite's own addresses. */
function printBlock(server: ViteDevServer, development: Development): void {
  const printUrls = server.printUrls.bind(server);
  server.printUrls = () => {
    printUrls();
    const { project, sandbox, mode } = development;
    const lines: [string, string][] = [
      ["Project:", project.name],
      ["Sandbox:", sandbox?.baseUrl ?? "none"],
      ...backendLine(server),
      ["Learning:", sandbox?.learning === null ? "disabled" : (sandbox?.learning ?? "as the sandbox has it")],
      ["Mode:", mode],
    ];
    server.config.logger.info(
      `\n  LYCEUM ${version}\n${lines.map(([name, value]) => `  ➜  ${name.padEnd(9)} ${value}`).join("\n")}`,
    );
  };
}
