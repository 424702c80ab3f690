import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The program under test. */
export const binary = process.env.LYCEUM_TEST_BIN;

const READY_MS = 30_000;
/** An answer takes milliseconds, a command seconds, on a busy machine too. */
const ANSWER_MAX_MS = 60_000;

/** A port that nobody listens on. */
export async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Resolves with what the look answers when that is truthy. */
export async function until(what, look, atMostMs = READY_MS) {
  const end = Date.now() + atMostMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > end) throw new Error(`${what} did not happen within ${atMostMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** What the work gives, or an error when it takes longer. */
export async function within(work, what, atMostMs) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`${what} did not end within ${atMostMs} ms`)), atMostMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const folders = [];
// Behind all tests of the file: what still runs in a folder may write into it while it is removed.
process.on("exit", () => {
  for (const path of folders) rmSync(path, { recursive: true, force: true, maxRetries: 10 });
});

/** A folder that goes with the process. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), "lyceum-web-"));
  folders.push(path);
  return path;
}

/** `lyceum serve` on data of its own, with a client that may do everything. */
export class Server {
  /** Starts one; `prepare` runs before, on its data and address, and may give it variables in `env`. */
  static async start(t, prepare = () => {}) {
    const server = new Server();
    server.data = join(folder(), "data");
    server.port = await freePort();
    server.base = `http://127.0.0.1:${server.port}`;
    await prepare(server);
    t.after(() => server.kill());
    await server.run();
    const { id, secret } = JSON.parse(server.lyceum("client", "create", "test", "--json"));
    const body = new URLSearchParams({ grant_type: "client_credentials", client_id: id, client_secret: secret });
    const { access_token } = await (await fetch(`${server.base}/oauth2/token`, { method: "POST", body })).json();
    server.token = access_token;
    return server;
  }

  /** Runs the server, also after {@link kill}, at the same address. */
  async run() {
    const flags = ["--listen", `127.0.0.1:${this.port}`, "--public-url", this.base, "--data", this.data, "--quiet"];
    const env = { ...process.env, LYCEUM_SERVER__LOG_LEVEL: "warn", ...this.env };
    this.process = spawn(binary, ["serve", ...flags], { env, stdio: ["ignore", "ignore", "inherit"] });
    await until("the server's start", () =>
      fetch(`${this.base}/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  }

  /** Ends the server as a crash does. */
  async kill() {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGKILL");
    await ended;
  }

  /** Runs another command of the program on the same data. */
  lyceum(...words) {
    const env = { ...process.env, ...this.env };
    return execFileSync(binary, [...words, "--data", this.data], { encoding: "utf8", timeout: ANSWER_MAX_MS, env });
  }

  /** Calls the server as its client; the JSON of the answer. */
  async call(method, path, body) {
    const headers = { authorization: `Bearer ${this.token}`, "content-type": "application/json" };
    const signal = AbortSignal.timeout(ANSWER_MAX_MS);
    const response = await fetch(this.base + path, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text && JSON.parse(text);
  }

  /** A school with students of these ids. */
  async school(...students) {
    const rostering = "/ims/oneroster/rostering/v1p2";
    await this.call("POST", `${rostering}/orgs`, { org: { sourcedId: "school", name: "School", type: "school" } });
    for (const id of students) {
      const roles = [{ roleType: "primary", role: "student", org: { sourcedId: "school" } }];
      const user = {
        sourcedId: id,
        username: id,
        givenName: id,
        familyName: "S",
        email: `${id}@example.org`,
        enabledUser: true,
        grades: ["03"],
        roles,
      };
      await this.call("POST", `${rostering}/users`, { user });
    }
  }

  /** A game token. */
  async player(user, game) {
    const { token } = await this.call("POST", `/api/games/${game}/token`, { userId: user });
    return token;
  }
}
