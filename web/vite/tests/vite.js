import { spawn } from "node:child_process";

import { binary, until } from "../../tests/server.js";

/** Python's pseudo-terminal: Vite hears keys only from a terminal. */
const TERMINAL = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))";

/** Variables with which the plugin finds the program under test. */
export const environment = { ...process.env, CI: "", NO_COLOR: "1", TERM: "dumb", LYCEUM_BIN: binary };

/** `vite` of a project, as somebody types it; ends with the test. */
export class Vite {
  static async start(t, root, more = {}, program = [process.execPath, `${root}/node_modules/vite/bin/vite.js`]) {
    const vite = new Vite();
    vite.said = "";
    const command = [...program, "--port", "0", "--host", "127.0.0.1"];
    const env = { ...environment, ...more };
    vite.process = spawn("python3", ["-c", TERMINAL, ...command], { cwd: root, env });
    for (const stream of [vite.process.stdout, vite.process.stderr]) stream.on("data", (text) => (vite.said += text));
    t.after(() => vite.kill());
    await vite.says(/Sandbox: +\S+/);
    vite.url = vite.said.match(/http:\/\/127\.0\.0\.1:\d+\//)[0];
    return vite;
  }

  /** The address of the sandbox's API that was printed last. */
  get sandbox() {
    return [...this.said.matchAll(/Sandbox: +(\S+)/g)].at(-1)[1];
  }

  /** Resolves when Vite has printed that since the last key. */
  async says(pattern) {
    const seen = () => pattern.test(this.said.slice(this.from ?? 0));
    await until(`vite's ${pattern}`, seen).catch((error) => {
      throw new Error(`${error.message}; it said:\n${this.said}`);
    });
  }

  /** Presses a key and enter. */
  press(key) {
    this.from = this.said.length;
    this.process.stdin.write(`${key}\n`);
  }

  /** Ends Vite as a crash does: its terminal goes with it. */
  async kill() {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGKILL");
    await ended;
  }
}
