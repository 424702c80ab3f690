import { Backend } from "./backend.js";
import { ConnectionMonitor } from "./connection.js";
import { Embedding } from "./embedding.js";
import type { Connection, Mode } from "./embedding.js";
import { SetupError } from "./errors.js";
import { Achievements, Games, Scores, noGame } from "./games.js";
import { Demo, askHost } from "./host.js";
import type { Host } from "./host.js";
import { Http } from "./http.js";
import { Credits, Inventory } from "./inventory.js";
import { Learning } from "./learning.js";
import type { TrackingOptions } from "./learning.js";
import { realPage } from "./page.js";
import { Levels, Notifications, Users } from "./players.js";
import { Queue, realWorld } from "./queue.js";
import type { QueuedWrite } from "./queue.js";
import { Runtime } from "./runtime.js";
import { browserStorage } from "./storage.js";
import type { QueueStorage } from "./storage.js";

/** What a client is made from. */
export interface ClientOptions extends TrackingOptions {
  /** The server's address, with or without `/api`. */
  baseUrl: string;
  /** A game token; on a server of your own a client's token; in the sandbox any text. */
  token: string;
  /** Where the game's own backend is. By default `/api` of the host that serves the page. */
  backendUrl?: string;
  /** Id or slug of the game; a game token names it. */
  gameId?: string;
  /** For whom a client's token acts; a game token names its player. */
  userId?: string;
  /** Gets a new token when the one in use is refused. */
  refreshToken?: () => Promise<string>;
  /** How the game is played; `init` finds out. */
  mode?: Mode;
  /** The player is an anonymous visitor, who has scores, the leader board and the backend alone; `init` finds out. */
  isDemo?: boolean;
  /** Where writes wait for the server: the browser's `localStorage`; in Node memory, or `fileStorage` of `@lyceum/sdk/node`. */
  storage?: QueueStorage;
}

/** What {@link init} can be told; what is missing comes from the embedding page or the Vite plugin. */
export interface InitOptions extends Partial<ClientOptions> {
  /** The origins that may embed the game. By default the page that the browser names as the frame's parent. */
  allowedOrigins?: readonly string[];
  /** How long to wait for the embedding page, in milliseconds. */
  initTimeoutMs?: number;
}

/** A Lyceum server, as one player of one game sees it. */
export class Client {
  /** How the game is played. */
  readonly mode: Mode;
  /** Whether the player is an anonymous visitor: nothing is taught, and scores are those of the demo. */
  readonly isDemo: boolean;
  /** The game's own backend. */
  readonly backend: Backend;
  readonly users: Users;
  readonly games: Games;
  readonly inventory: Inventory;
  readonly credits: Credits;
  readonly scores: Scores;
  readonly levels: Levels;
  readonly achievements: Achievements;
  readonly notifications: Notifications;
  readonly learning: Learning;
  readonly runtime: Runtime;
  /** Whether the server can be reached. */
  readonly connection: ConnectionMonitor;
  /** Writes on their way to the server. */
  readonly queue: Queue;
  readonly #http: Http;

  constructor(options: ClientOptions, embedding?: Embedding) {
    const { baseUrl, token } = options;
    if (!baseUrl || !token) throw new SetupError("baseUrl and token must not be empty");
    const claims = claimsOf(token);
    const gameId = options.gameId ?? claims.game;
    const game = () => gameId ?? noGame();
    const http = new Http(baseUrl, token, options);
    // Two players of one device, two games of one page: each has a queue of its own.
    const name = [http.baseUrl, gameId ?? "", options.userId ?? claims.sub ?? ""].join("|");
    const send = (write: QueuedWrite, keepalive: boolean) => http.send({ ...write, keepalive });
    const queue = new Queue(options.storage ?? browserStorage(), name, send, realWorld());
    this.mode = options.mode ?? "platform";
    this.isDemo = options.isDemo ?? this.mode === "demo";
    this.#http = http;
    this.queue = queue;
    this.backend = new Backend(options.backendUrl, () => http.token);
    this.users = new Users(http);
    this.games = new Games(http, queue, game);
    this.inventory = new Inventory(http, queue);
    this.credits = new Credits(this.inventory);
    this.scores = new Scores(http, queue, game);
    this.levels = new Levels(http);
    this.achievements = new Achievements(http, queue, game);
    this.notifications = new Notifications(http, queue);
    this.learning = new Learning(
      http,
      queue,
      game,
      realPage(() => http.now()),
      { ...options, isDemo: this.isDemo },
    );
    this.runtime = new Runtime(embedding);
    this.connection = new ConnectionMonitor(() => http.answers());
    this.connection.on("change", (state) => state === "online" && void queue.flush());
    this.connection.start();
    if (embedding) this.#obey(embedding);
    // What an earlier visit left behind.
    void queue.flush();
  }

  /** Uses another token from now on. */
  setToken(token: string): void {
    this.#http.token = token;
    void this.queue.flush();
  }

  /** Stops timers; what waits stays stored for the next client of the same player and game. */
  close(): void {
    this.learning.leave();
    this.connection.stop();
    this.runtime.close();
    this.queue.close();
  }

  #obey(embedding: Embedding): void {
    const { learning } = this;
    embedding.on("LYCEUM_TOKEN_REFRESH", ({ token }) => this.setToken(token));
    embedding.on("LYCEUM_PAUSE", () => learning.pause());
    embedding.on("LYCEUM_RESUME", () => learning.resume());
    embedding.on("LYCEUM_OVERLAY", (covered) => (covered ? learning.pause() : learning.resume()));
    embedding.on("LYCEUM_FORCE_EXIT", () => learning.leave());
    embedding.on("LYCEUM_CONNECTION_STATE", () => void this.connection.check());
  }
}

/**
 * Makes a client of what is known: the options, what the Vite plugin tells in development, what the page
 * that embeds the game tells, or at the game's own address what its host tells, for a demo.
 *
 * Throws {@link SetupError} where none of them says where the server is, after 5 s.
 */
export async function init(options: InitOptions = {}): Promise<Client> {
  const injected = (globalThis as { __LYCEUM__?: Connection }).__LYCEUM__;
  // Where the plugin shows the game on a platform, its page greets the game as a platform does.
  const greets = injected?.mode === "platform" && Embedding.isFramed;
  const known = { ...(greets ? {} : injected), ...options };
  const { baseUrl, token } = known;
  if (baseUrl && token) return new Client({ ...known, baseUrl, token });
  // Under the plugin there is no host of a deployed game.
  const host = injected ? undefined : await askHost();
  return Embedding.isFramed ? embedded(options, host) : standalone(options, host);
}

/** A client for a game that a page embeds: the page of its server, where its host says which one that is. */
async function embedded(options: InitOptions, host: Host | undefined): Promise<Client> {
  const embedding = new Embedding(options.allowedOrigins ?? (host && [new URL(host.server).origin]));
  try {
    const greeting = await embedding.greeting(options.initTimeoutMs);
    const refreshToken = () => embedding.newToken();
    return new Client({ refreshToken, ...greeting, ...options } as ClientOptions, embedding);
  } catch (error) {
    embedding.close();
    throw error;
  }
}

/** A client for a game at its own address: a visitor of its demo. */
async function standalone(options: InitOptions, host: Host | undefined): Promise<Client> {
  if (!host) {
    throw new SetupError(
      "nothing says where the server is; in development use the plugin of @lyceum/vite, deploy the game with `lyceum deploy` and open its page, else pass baseUrl and token to init",
    );
  }
  const demo = new Demo(host);
  const refreshToken = () => demo.newToken();
  return new Client({ refreshToken, ...(await demo.connection()), isDemo: true, ...options } as ClientOptions);
}

/** Player and game of a game token; nothing where the token is of another kind. */
function claimsOf(token: string): { sub?: string; game?: string } {
  try {
    const payload = token.split(".")[1]!.replace(/-/g, "+").replace(/_/g, "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(payload), (letter) => letter.charCodeAt(0))));
  } catch {
    return {};
  }
}
