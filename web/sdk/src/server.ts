/** For code of a game's backend: what it asks the platform. */
import type { Service, Stores } from "./bindings.js";
import { SetupError } from "./errors.js";
import type { Score } from "./games.js";
import { Http, part } from "./http.js";
import type { Request } from "./http.js";
import type { Activity, ActivityResult, EndedActivity } from "./learning.js";
import type { Player } from "./players.js";
import type { DayXp } from "./xp.js";

export type * from "./bindings.js";
export { ApiError, ConnectionError, SetupError } from "./errors.js";

/** What routes find in Hono's context, in a project with these stores and secrets. `lyceum dev` writes it as `LyceumEnv`. */
export interface RouteEnvironment<Store extends keyof Stores, Secret extends string> {
  /** `c.env` */
  Bindings: Pick<Stores, Store> & {
    SELF: Service;
    /** The platform, unless `lyceum dev` runs without a sandbox. */
    LYCEUM?: Service;
    GAME_ID: string;
    LYCEUM_BASE_URL: string;
    secrets: Record<Secret, string>;
  };
  /** `c.get(…)` */
  Variables: { user: User | null; lyceumUser: User | null; sdk: Server | undefined };
}

/** What of a backend's `c.env` is needed. */
export interface BackendEnvironment {
  /** The platform, in a backend that Lyceum runs. */
  LYCEUM?: { fetch(url: string, init?: RequestInit): Promise<Response> };
  GAME_ID?: string;
}

/** What a program elsewhere is told. */
export interface ServerOptions {
  /** The server's address, with or without `/api`. */
  baseUrl: string;
  /** A key or token that may act for players. */
  apiKey: string;
  /** Id or slug of the game. */
  gameId: string;
}

/** A user, in the names of OpenID Connect's claims: what routes find in `c.get("user")`. */
export interface User {
  sub: string;
  username: string;
  /** Whether the user is an anonymous visitor of the game's demo. */
  demo: boolean;
  /** The username where an administrator does not share names with the game. */
  name: string;
  /** Empty where an administrator does not share it with the game. */
  email: string;
  email_verified: boolean;
  given_name?: string;
  family_name?: string;
  lms_id?: string;
}

/** The user of a request to `export default { fetch }`; null without a token. Hono routes find it in `c.get("user")`. */
export function userOf(request: globalThis.Request): User | null {
  const header = request.headers.get("lyceum-user");
  return header === null ? null : (JSON.parse(decodeURIComponent(header)) as User);
}

/** What an ended activity tells of a student. */
export interface StudentActivity extends Activity, ActivityResult {
  subject: string;
  grade: number | string;
  activityId: string;
}

/** The platform as a game's backend sees it: it acts in its own game, for any player. */
export class Server {
  readonly learning: ServerLearning;
  readonly scores: ServerScores;
  readonly #http: Http;
  readonly #fetch: BackendFetch | undefined;

  constructor(
    private readonly baseUrl: string,
    private readonly gameId: string,
    token: string | undefined,
    fetch?: BackendFetch,
  ) {
    this.#fetch = fetch;
    this.#http = new Http(baseUrl, token, { ...(fetch && { fetch }) });
    this.learning = new ServerLearning(this.#http, gameId);
    this.scores = new ServerScores(this.#http, gameId);
  }

  /** A player: whole where the game teaches the player, else by id and username. */
  user(studentId: string): Promise<Player> {
    return this.#http.send({ method: "GET", path: `/users/${part(studentId)}`, query: { userId: studentId } });
  }

  /** Any request to the API, below `/api`. */
  request<T = unknown>(request: Request): Promise<T> {
    return this.#http.send(request);
  }

  /** Whose a game token is. Throws `ApiError` of status 401 for one that is not valid. */
  async verifyGameToken(token: string): Promise<{ claims: Record<string, unknown>; gameId: string; user: Player }> {
    const http = new Http(this.baseUrl, token, { ...(this.#fetch && { fetch: this.#fetch }) });
    const user = await http.send<Player>({ method: "GET", path: "/users/me" });
    const claims = claimsOf(token);
    return { claims, gameId: typeof claims.game === "string" ? claims.game : this.gameId, user };
  }
}

type BackendFetch = (url: string, init: RequestInit) => Promise<Response>;

/** What students learn. */
export class ServerLearning {
  constructor(
    private readonly http: Http,
    private readonly gameId: string,
  ) {}

  /** Tells what came of an activity; answers what it has earned. */
  endActivity(studentId: string, activity: StudentActivity): Promise<EndedActivity> {
    const { activityId, activityName, subject, grade, correctQuestions, totalQuestions } = activity;
    const { durationSeconds = 0, xpEarned, masteredUnits } = activity;
    const body = {
      gameId: this.gameId,
      studentId,
      activityData: { activityId, ...(activityName !== undefined && { activityName }), subject, grade },
      scoreData: { correctQuestions, totalQuestions },
      timingData: { durationSeconds },
      ...(xpEarned !== undefined && { xpEarned }),
      ...(masteredUnits !== undefined && { masteredUnits }),
    };
    const query = { userId: studentId };
    return this.http.send({ method: "POST", path: "/lms/end-activity", query, body, key: crypto.randomUUID() });
  }

  /** A student's XP of today in a time zone. */
  xpToday(studentId: string, timezone = "UTC"): Promise<DayXp> {
    return this.http.send({ method: "GET", path: "/lms/xp/today", query: { userId: studentId, timezone } });
  }

  /** All XP of a student. */
  async xpTotal(studentId: string): Promise<number> {
    const query = { userId: studentId };
    const { totalXp } = await this.http.send<{ totalXp: number }>({ method: "GET", path: "/lms/xp/total", query });
    return totalXp;
  }
}

/** Scores of players. */
export class ServerScores {
  constructor(
    private readonly http: Http,
    private readonly gameId: string,
  ) {}

  submit(studentId: string, score: number, metadata: Record<string, unknown> = {}): Promise<Score> {
    const path = `/games/${part(this.gameId)}/scores`;
    const body = { score, metadata };
    return this.http.send({ method: "POST", path, query: { userId: studentId }, body, key: crypto.randomUUID() });
  }
}

/** The platform for a backend that Lyceum runs: `backend(c.env)`, or `c.get("sdk")`. */
export function backend(environment: BackendEnvironment): Server | undefined {
  const { LYCEUM, GAME_ID = "" } = environment;
  // The name of the host says nothing: what is asked goes to the server that runs the backend.
  return LYCEUM && new Server("http://lyceum", GAME_ID, undefined, (url, init) => LYCEUM.fetch(url, init));
}

/** The platform for a program that runs elsewhere. */
export function init({ baseUrl, apiKey, gameId }: ServerOptions): Server {
  if (!baseUrl || !apiKey || !gameId) throw new SetupError("baseUrl, apiKey and gameId must not be empty");
  return new Server(baseUrl, gameId, apiKey);
}

function claimsOf(token: string): Record<string, unknown> {
  try {
    const payload = token.split(".")[1]!.replace(/-/g, "+").replace(/_/g, "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(payload), (letter) => letter.charCodeAt(0))));
  } catch {
    // A sandbox takes any text.
    return {};
  }
}
