import { BACKEND_PORTS, followBuilds, startBackend } from "./backend.js";
import type { Backend, BackendFailure } from "./backend.js";
import { LEARNING_ROLES, PLATFORM_ROLES, flags } from "./options.js";
import type { LearningRole, Mode, Options, PlatformRole } from "./options.js";
import type { Project } from "./project.js";
import { connect, freePort, startSandbox } from "./sandbox.js";
import type { Sandbox } from "./sandbox.js";

/** What pages in development are told. */
export interface Injected {
  baseUrl: string;
  token: string;
  gameId: string;
  mode: Mode;
}

/** What a development server does with what happens to the sandbox and the backend. */
export interface Listeners {
  /** Takes each line that the sandbox writes. */
  says(line: string): void;
  /** Takes each line that the backend writes. */
  hears(line: string): void;
  /** Takes why the backend does not serve the saved files; null when it serves them again. */
  shows(failure: BackendFailure | null): void;
  /** Takes an error that somebody must see. */
  fails(message: string): void;
  /** The sandbox or the backend runs again. */
  recovers(message: string): void;
}

/** After a process has died, one that dies within this time is not started again. */
const STABLE_MS = 10_000;

/**
 * The sandbox of one project in this process, with what the hot keys have changed. It outlives
 * restarts of the development server: the new server takes it over before the old one lets go.
 */
export class Development {
  mode: Mode = "platform";
  project: Project = { name: "", slug: "" };
  #options: Options = {};
  #role: LearningRole | undefined;
  #platformRole: PlatformRole | undefined;
  #started = "";
  #sandbox: Sandbox | undefined;
  #backend: Backend | undefined;
  #backendPort: number | undefined;
  #holders = 0;
  #listeners: Listeners | undefined;
  #following = new AbortController();
  #revivedMs = 0;
  #failure: BackendFailure | null = null;

  /** That of a folder. */
  static of(root: string): Development {
    const all = globalThis as { [DEVELOPMENTS]?: Map<string, Development> };
    const map = (all[DEVELOPMENTS] ??= new Map());
    const known = map.get(root) ?? new Development(root);
    map.set(root, known);
    return known;
  }

  private constructor(private readonly root: string) {}

  /** Where the sandbox is; none while there is none. */
  get sandbox(): Sandbox | undefined {
    return this.#sandbox;
  }

  /** Where Vite finds the backend, which need not run yet; undefined where the project has none. */
  async backendUrl(options: Options, project: Project): Promise<string | undefined> {
    const { autoStart, url } = options.backend ?? {};
    if (url) return url.replace(/\/+$/, "").replace(/\/api$/, "");
    if (autoStart === false || !project.routes) return undefined;
    this.#backendPort ??= await freePort(...BACKEND_PORTS);
    return `http://127.0.0.1:${this.#backendPort}`;
  }

  /** Why the backend does not serve the saved files; null while it does. */
  get failure(): BackendFailure | null {
    return this.#failure;
  }

  /** The role of the learner. */
  get role(): LearningRole {
    return this.#role ?? this.#options.learning?.role ?? "student";
  }

  /** The role of the demo user on the platform. */
  get platformRole(): PlatformRole {
    return this.#platformRole ?? this.#options.sandbox?.role ?? "developer";
  }

  get injected(): Injected | undefined {
    if (!this.#sandbox) return undefined;
    const { baseUrl, token, gameId } = this.#sandbox;
    return { baseUrl, token, gameId, mode: this.mode };
  }

  /**
   * A development server begins: the sandbox runs when this resolves, with these options, and the
   * backend. `listeners` replaces those of the server before.
   */
  async hold(options: Options, project: Project, listeners: Listeners): Promise<void> {
    const first = this.#holders === 0;
    this.#holders += 1;
    this.#listeners = listeners;
    // What the key has changed stays until somebody changes the option.
    if (first || options.mode !== this.#options.mode) this.mode = options.mode ?? "platform";
    this.#options = options;
    this.project = project;
    if (JSON.stringify([options.sandbox, options.backend, options.learning, project]) === this.#started) return;
    this.#role = undefined;
    this.#platformRole = undefined;
    await this.#start(options.sandbox?.recreateDb);
  }

  /** A development server has ended; with the last one the sandbox ends. */
  async release(): Promise<void> {
    this.#holders -= 1;
    if (this.#holders === 0) await this.#stop();
  }

  /** Makes the database anew. */
  recreate(): Promise<void> {
    return this.#start(true);
  }

  /** The learner takes the next role. */
  async nextRole(): Promise<LearningRole> {
    const next = (LEARNING_ROLES.indexOf(this.role) + 1) % LEARNING_ROLES.length;
    this.#role = LEARNING_ROLES[next]!;
    await this.#start();
    return this.#role;
  }

  /** The demo user takes the next role on the platform. */
  async nextPlatformRole(): Promise<PlatformRole> {
    const next = (PLATFORM_ROLES.indexOf(this.platformRole) + 1) % PLATFORM_ROLES.length;
    this.#platformRole = PLATFORM_ROLES[next]!;
    await this.#start();
    return this.#platformRole;
  }

  async #start(anew = false): Promise<void> {
    // A page that is open still has the address.
    const { baseUrl } = this.#sandbox ?? {};
    await this.#stop();
    const { sandbox = {}, learning } = this.#options;
    if (sandbox.url) {
      const never = new Promise<string>(() => {});
      this.#sandbox = { ...(await connect(sandbox.url, this.project)), died: never, stop: async () => {} };
    } else if (sandbox.autoStart !== false) {
      const changed = {
        sandbox: { ...sandbox, role: this.platformRole },
        learning: { ...learning, ...(this.#role && { role: this.#role }) },
      };
      const { root, project } = this;
      // Memory is new with each start.
      const more = anew && !sandbox.memoryOnly ? ["--recreate-db"] : [];
      const says = (line: string) => this.#listeners?.says(line);
      this.#sandbox = await startSandbox({
        root,
        project,
        port: baseUrl && !sandbox.url ? Number(new URL(baseUrl).port) : undefined,
        flags: [...flags({ ...this.#options, ...changed }), ...more],
        logLevel: sandbox.logLevel,
        says,
      });
    }
    if (this.#backendPort && this.project.routes && !this.#options.backend?.url) {
      // Its log is for whoever writes the routes.
      const says = (line: string) => this.#listeners?.hears(line);
      this.#backend = await startBackend(this.root, this.project, this.#backendPort, this.#sandbox?.baseUrl, says);
      this.#following = new AbortController();
      void followBuilds(this.#backend.url, this.#following.signal, (failure) => this.#show(failure));
    }
    for (const [what, running] of [["the sandbox", this.#sandbox], ["the backend", this.#backend]] as const) {
      void running?.died.then((how) => this.#revive(what, running, how));
    }
    this.#started = JSON.stringify([
      this.#options.sandbox,
      this.#options.backend,
      this.#options.learning,
      this.project,
    ]);
  }

  #show(failure: BackendFailure | null): void {
    if (!failure && !this.#failure) return;
    this.#failure = failure;
    this.#listeners?.shows(failure);
  }

  /** Starts everything again after a process has died. The sandbox finds its data in its file. */
  async #revive(what: string, dead: Sandbox | Backend, how: string): Promise<void> {
    if (dead !== this.#sandbox && dead !== this.#backend) return;
    const again = Date.now() - this.#revivedMs >= STABLE_MS;
    this.#revivedMs = Date.now();
    const data = this.#options.sandbox?.memoryOnly ? "without its data, which was in memory" : "with its data";
    const restart = dead === this.#sandbox ? `it is started again, ${data}` : "it is started again";
    const next = again ? restart : "it died before, so it is not started again; press r and enter to try";
    this.#listeners?.fails(`${what} has died: ${how}\n  ${next}`);
    try {
      if (!again) return await this.#stop();
      await this.#start();
      this.#listeners?.recovers(`${what} runs again`);
    } catch (error) {
      this.#listeners?.fails((error as Error).message);
    }
  }

  async #stop(): Promise<void> {
    this.#following.abort();
    this.#failure = null;
    const running = [this.#backend, this.#sandbox];
    this.#sandbox = undefined;
    this.#backend = undefined;
    this.#started = "";
    await Promise.all(running.map((each) => each?.stop()));
  }
}

/** A restarted Vite loads this module again; what runs is found under this name. */
const DEVELOPMENTS: unique symbol = Symbol.for("lyceum.developments") as never;
