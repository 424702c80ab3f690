import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";
import type { Readable } from "node:stream";

import type { Project } from "./project.js";

/** How often a start is tried if another program takes the port. */
const START_ATTEMPTS = 3;
const FIRST_PORT = 4321;
const LAST_PORT = 4340;
const READY_MS = 15_000;
const STOP_MS = 5_000;
/** How much of what a sandbox wrote is shown when it does not start. */
const KEPT_LINES = 20;
/** Any text is the demo user to a sandbox. */
const MOCK_TOKEN = "mock-dev-token";

/** A sandbox that answers. */
export interface Sandbox {
  /** The address of its API. */
  baseUrl: string;
  gameId: string;
  token: string;
  /** The mode of the learning integration; null where it is switched off, undefined where nobody said. */
  learning?: string | null;
  /** Resolves when the process ends without {@link stop}, with the reason; never for a sandbox that was not started. */
  died: Promise<string>;
  /** Resolves when the process has ended. */
  stop(): Promise<void>;
}

/** What a sandbox is started with. */
export interface Start {
  root: string;
  project: Project;
  flags: string[];
  /** The port that is used if it is free, so that a page that is open still finds the sandbox. */
  port?: number | undefined;
  /** `LYCEUM_SERVER__LOG_LEVEL` of the process. */
  logLevel?: string | undefined;
  /** Takes each line that the sandbox writes. */
  says(line: string): void;
}

/** The program: that of the package `@lyceum/cli`, else of the PATH, else `LYCEUM_BIN`. */
export function findBinary(root: string, environment: NodeJS.ProcessEnv = process.env): string {
  const packaged = packagedBinary(root);
  if (packaged) return packaged;
  const folders = (environment.PATH ?? "").split(delimiter).filter(Boolean);
  const onPath = folders.map((folder) => join(folder, "lyceum")).find(existsSync);
  const found = onPath ?? environment.LYCEUM_BIN;
  if (!found) {
    throw new Error(
      "the program `lyceum` was not found; run `npm install --save-dev @lyceum/cli`, or name it in LYCEUM_BIN",
    );
  }
  return found;
}

function packagedBinary(root: string): string | undefined {
  try {
    const manifest = createRequire(join(root, "package.json")).resolve("@lyceum/cli/package.json");
    const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as { bin: { lyceum: string } };
    return join(dirname(manifest), bin.lyceum);
  } catch {
    return undefined;
  }
}

/**
 * Starts a sandbox for the project, on the first free port from 4321 unless it has a port. Throws what it printed when
 * it does not start.
 */
export async function startSandbox(start: Start): Promise<Sandbox> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startSandboxOnce(start);
    } catch (error) {
      // Another program may take the port between the check and the start.
      if (attempt === START_ATTEMPTS || !String(error).includes("is in use")) throw error;
    }
  }
}

async function startSandboxOnce({ root, project, flags, port: before, logLevel, says }: Start): Promise<Sandbox> {
  const named = ["--project-name", project.name, "--project-slug", project.slug];
  const config = project.config ? ["--config-path", project.config] : [];
  const port = String((before && (await isFree(before)) && before) || (await freePort(FIRST_PORT, LAST_PORT)));
  const log = logLevel ? { LYCEUM_SERVER__LOG_LEVEL: logLevel } : {};
  const words = ["sandbox", "--port", port, ...named, ...config, ...flags];
  const { announcement, died, stop } = await startProgram<Started>("the sandbox", root, words, log, says);
  const { api: baseUrl, gameId, token, learning } = announcement;
  return { baseUrl, gameId, token, learning, died, stop };
}

/**
 * Runs the program until `stop`. Resolves with the JSON that it prints when it is ready. If it does not
 * start, throws an error with its last lines.
 */
export async function startProgram<Announcement>(
  what: string,
  root: string,
  words: string[],
  environment: NodeJS.ProcessEnv,
  says: (line: string) => void,
): Promise<{ announcement: Announcement; died: Promise<string>; stop(): Promise<void> }> {
  const [command = "", ...rest] = words;
  // It ends with its input, so that it never outlives Vite, however that ends.
  const child = spawn(findBinary(root), [command, "--json", "--until-stdin-ends", ...rest], {
    cwd: root,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  const output: string[] = [];
  lines(child.stderr, (line) => {
    output.push(line);
    if (output.length > KEPT_LINES) output.shift();
    says(line);
  });
  const ended = new Promise<string>((resolve) => {
    child.on("error", (error) => resolve(error.message));
    // Not `exit`: what the process wrote last has been read by then.
    child.on("close", (code, signal) => resolve(`it ended with ${code ?? signal}`));
  });
  const started = new Promise<{ announcement: Announcement }>((resolve) => {
    let text = "";
    lines(child.stdout, (line) => {
      text += line;
      if (line === "}") resolve({ announcement: JSON.parse(text) as Announcement });
    });
  });
  const late = new Promise<string>((resolve) => {
    setTimeout(() => resolve(`it did not say that it is ready within ${READY_MS / 1000} s`), READY_MS).unref();
  });
  const outcome = await Promise.race([started, ended, late]);
  if (typeof outcome === "string") {
    child.kill("SIGKILL");
    throw new Error([`${what} did not start: ${outcome}`, ...output].join("\n  "));
  }
  let stopping = false;
  const died = new Promise<string>((resolve) => {
    void ended.then((how) => stopping || resolve([how, ...output].join("\n  ")));
  });
  const stop = async () => {
    stopping = true;
    const kill = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    child.stdin.end();
    await ended;
    clearTimeout(kill);
  };
  return { announcement: outcome.announcement, died, stop };
}

/** What a sandbox says when it is ready. */
interface Started {
  api: string;
  gameId: string;
  token: string;
  learning: string | null;
}

/** A sandbox that runs already, with the project registered as a game. */
export async function connect(url: string, project: Project): Promise<Omit<Sandbox, "died" | "stop">> {
  const base = url.replace(/\/+$/, "");
  const baseUrl = base.endsWith("/api") ? base : `${base}/api`;
  const call = async (method: string, path: string, body?: object) => {
    const headers = {
      authorization: `Bearer ${MOCK_TOKEN}`,
      accept: "application/json",
      "content-type": "application/json",
    };
    const response = await fetch(baseUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (text.startsWith("<"))
      throw new Error(`'${baseUrl}' answered with a page; server not running, or wrong address or port`);
    return { status: response.status, answer: JSON.parse(text) as { id?: string; error?: { message: string } } };
  };
  let found = await call("GET", `/games/${project.slug}`);
  if (found.status === 404) found = await call("POST", "/games", { slug: project.slug, displayName: project.name });
  if (!found.answer.id)
    throw new Error(`the sandbox did not take the project: ${found.answer.error?.message ?? found.status}`);
  return { baseUrl, gameId: found.answer.id, token: MOCK_TOKEN };
}

/** Hands on each line that a process writes. */
function lines(stream: Readable, says: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    const whole = (rest + text).split("\n");
    rest = whole.pop() ?? "";
    whole.forEach(says);
  });
}

/** The first port from one to another that nobody listens on. */
export async function freePort(from: number, to: number): Promise<number> {
  for (let port = from; port <= to; port++) if (await isFree(port)) return port;
  throw new Error(
    `the ports ${from} to ${to} are all busy; stop what listens there, or name a running one by its url`,
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
