import { SetupError } from "./errors.js";
import type { Http } from "./http.js";
import { part } from "./http.js";
import type { Queue, Written } from "./queue.js";
import type { Schemas } from "./schemas.js";

/** A game. */
export type Game = Schemas["Game"];

/** A player's time in a game. */
export type Session = Schemas["GameSession"];

/** What a game saved for a player. */
export interface SavedState<State> extends Omit<Schemas["GameState"], "state"> {
  /** Null if nothing was saved. */
  state: State | null;
}

/** A page of a list. */
export interface Page {
  limit?: number;
  offset?: number;
}

/** The game that is played, for what asks for its id. */
export type CurrentGame = () => string;

/** Says that no game is known. */
export function noGame(): never {
  throw new SetupError("this client was made without a game; pass gameId, or use a game token");
}

/** Games, the sessions of the player and what the game remembers. */
export class Games {
  #version: number | undefined;

  constructor(
    private readonly http: Http,
    private readonly queue: Queue,
    private readonly game: CurrentGame,
  ) {}

  /** All games, by name. */
  list(page: Page = {}): Promise<Game[]> {
    return this.http.send({ method: "GET", path: "/games", query: { ...page } });
  }

  /** A game by id or slug; the one that is played unless named. */
  fetch(idOrSlug = this.game()): Promise<Game> {
    return this.http.send({ method: "GET", path: `/games/${part(idOrSlug)}` });
  }

  /** The player begins to play. */
  startSession(): Promise<Written<Session>> {
    return this.queue.push("POST", `${this.#path()}/sessions`, {});
  }

  /** The player stops playing. */
  endSession(sessionId: string): Promise<Written<Session>> {
    return this.queue.push("POST", `${this.#path()}/sessions/${part(sessionId)}/end`, {});
  }

  /** The player's sessions, the newest first. */
  sessions(page: Page = {}): Promise<Session[]> {
    return this.http.send({ method: "GET", path: `${this.#path()}/sessions`, query: { ...page } });
  }

  /** What the game remembers of the player. */
  async loadState<State = unknown>(): Promise<SavedState<State>> {
    const saved = await this.http.send<SavedState<State>>({ method: "GET", path: `${this.#path()}/state` });
    this.#version = saved.version;
    return saved;
  }

  /**
   * Remembers any JSON. Where somebody else has saved since {@link loadState}, on another device
   * perhaps, this throws an `ApiError` of status 409: load, merge, save again. `{overwrite: true}`
   * saves over whatever is there.
   */
  async saveState(
    state: unknown,
    options: { overwrite?: boolean } = {},
  ): Promise<Written<Schemas["SavedGameState"]>> {
    const path = `${this.#path()}/state`;
    const seen = this.#version;
    // Of saves that were never sent only the last one matters; others follow one another.
    const former = this.queue.untried(path);
    const expected = former ? (former.body as { version?: number }).version : seen;
    const version = options.overwrite || expected === undefined ? {} : { version: expected };
    if (expected !== undefined) this.#version = expected + 1;
    try {
      const saved = await this.queue.push<Schemas["SavedGameState"]>("PUT", path, { state, ...version }, former);
      if (!saved.queued) this.#version = Math.max(saved.version, this.#version ?? 0);
      return saved;
    } catch (error) {
      this.#version = seen;
      throw error;
    }
  }

  #path(): string {
    return `/games/${part(this.game())}`;
  }
}

/** A score. */
export type Score = Schemas["GameScore"];

/** A line of a leader board. */
export type LeaderboardLine = Schemas["LeaderboardLine"];

export type Timeframe = "all_time" | "monthly" | "weekly" | "daily";

/** Scores. */
export class Scores {
  constructor(
    private readonly http: Http,
    private readonly queue: Queue,
    private readonly game: CurrentGame,
  ) {}

  /** Keeps a score; the higher the better. */
  submit(score: number, metadata: Record<string, unknown> = {}): Promise<Written<Score>> {
    return this.queue.push("POST", `/games/${part(this.game())}/scores`, { score, metadata });
  }

  /** The player's scores in this game, the newest first. */
  mine(page: Page = {}): Promise<Score[]> {
    const query = { gameId: this.game(), ...page };
    return this.http.send({ method: "GET", path: "/users/me/scores", query });
  }

  /** The best score of each player, the highest first. */
  leaderboard(options: Page & { timeframe?: Timeframe } = {}): Promise<LeaderboardLine[]> {
    return this.http.send({ method: "GET", path: `/games/${part(this.game())}/leaderboard`, query: { ...options } });
  }
}

/** An achievement, and how far the player is. */
export type Achievement = Schemas["AchievementProgress"];

/** Achievements. */
export class Achievements {
  constructor(
    private readonly http: Http,
    private readonly queue: Queue,
    private readonly game: CurrentGame,
  ) {}

  /** Those of the game, and how far the player is. */
  list(): Promise<Achievement[]> {
    return this.http.send({ method: "GET", path: this.#path() });
  }

  /** Notes how far the player is; at the goal the achievement is unlocked. */
  progress(name: string, progress: number): Promise<Written<Achievement>> {
    return this.queue.push("POST", `${this.#path()}/${part(name)}/progress`, { progress });
  }

  /** Unlocks an achievement, once. */
  unlock(name: string): Promise<Written<Achievement>> {
    return this.queue.push("POST", `${this.#path()}/${part(name)}/unlock`, {});
  }

  #path(): string {
    return `/games/${part(this.game())}/achievements`;
  }
}
