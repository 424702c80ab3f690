import { AttentionClock } from "./attention.js";
import type { CurrentGame } from "./games.js";
import type { Http } from "./http.js";
import type { PageEnvironment } from "./page.js";
import type { QueuedWrite, Written } from "./queue.js";
import type { Schemas } from "./schemas.js";
import { Xp } from "./xp.js";

/** The activity that a player works on. */
export type Activity = Pick<Schemas["GameActivity"], "activityId" | "activityName" | "subject" | "grade">;

/** The result of an activity. */
export interface ActivityResult extends Partial<Activity>, ActivityScore {
  /** XP in place of those that the server computes from active minutes and accuracy; below 0 for a penalty. */
  xpEarned?: number;
  /** The number of units of the course that this activity has mastered. */
  masteredUnits?: number;
  /** Active time in seconds, if the client did not measure it. */
  durationSeconds?: number;
}

type ActivityScore = Schemas["ActivityScore"];

/** What an ended activity has earned. */
export type EndedActivity = Schemas["EarnedXp"];

/** How time is measured. */
export interface TrackingOptions {
  /** How often time is told to the server, in seconds. */
  heartbeatSeconds?: number;
  /** For how long a learner who touches nothing counts as active, in seconds: longer where much is read or watched. */
  idleAfterSeconds?: number;
  /** The player is an anonymous visitor: nothing is told, and nothing is earned. */
  isDemo?: boolean;
}

/** What a demo earns. */
const NOTHING_EARNED: EndedActivity = {
  xpAwarded: 0,
  attempt: 1,
  multiplier: null,
  courseId: "",
  masteredUnits: 0,
  pctCompleteApp: null,
  eventId: "",
};

export const HEARTBEAT_SECONDS = 15;
export const IDLE_AFTER_SECONDS = 60;
/** Browsers wake hidden pages once a minute; what is longer was sleep. */
const SLEEP_AFTER_MS = 130_000;

/** What learning needs of the queue. */
export interface LearningQueue {
  push<T extends object>(method: QueuedWrite["method"], path: string, body: unknown): Promise<Written<T>>;
  /** Sends a write in such a way that it outlives the page. */
  beacon(method: QueuedWrite["method"], path: string, body: unknown): void;
}

/** The user who learns, with role, enrollments and organizations. */
export type LearningContext = Schemas["LearnerAccount"];

interface Running {
  gameId: string;
  activity: Activity;
  clock: AttentionClock;
  /** When the window began that the next heartbeat tells. */
  since: number;
  activeMs: number;
  stop: () => void;
}

/**
 * Learning: activities with their time, what they earn, who learns.
 *
 * `start` begins to measure; from then on active and inactive time is told to the server every
 * {@link HEARTBEAT_SECONDS}, and once more when the page is left. `endActivity` tells the result.
 */
export class Learning {
  readonly xp: Xp;
  #running: Running | undefined;

  constructor(
    private readonly http: Http,
    private readonly queue: LearningQueue,
    private readonly game: CurrentGame,
    private readonly page: PageEnvironment,
    private readonly options: TrackingOptions = {},
  ) {
    this.xp = new Xp(http);
  }

  /** The activity whose time is measured. */
  get current(): Activity | undefined {
    return this.#running?.activity;
  }

  /** Begins an activity and measures its time; one that runs is left with the time it has. */
  start(activity: Activity): void {
    check(activity);
    const gameId = this.game();
    this.leave();
    const clock = new AttentionClock(
      this.page.elapsed(),
      (this.options.idleAfterSeconds ?? IDLE_AFTER_SECONDS) * 1000,
      SLEEP_AFTER_MS,
    );
    const elapsed = () => this.page.elapsed();
    const stops = [
      this.page.every((this.options.heartbeatSeconds ?? HEARTBEAT_SECONDS) * 1000, () => this.#beat(false)),
      this.page.watch({
        input: () => clock.input(elapsed()),
        seen: (visible) => {
          clock.see(elapsed(), visible);
          // Telephones end hidden pages without a word.
          if (!visible) this.#beat(true);
        },
        left: () => this.#beat(true),
      }),
    ];
    const stop = () => stops.forEach((each) => each());
    this.#running = { gameId, activity, clock, since: this.page.now(), activeMs: 0, stop };
  }

  /** The clock stands: a dialogue, an overlay, a break. */
  pause(): void {
    this.#running?.clock.pause(this.page.elapsed());
  }

  /** The clock goes on. */
  resume(): void {
    this.#running?.clock.resume(this.page.elapsed());
  }

  /** The learner does something that the page cannot see, such as watching a film or speaking. */
  touch(): void {
    this.#running?.clock.input(this.page.elapsed());
  }

  /** Leaves the activity without a result; its time counts. */
  leave(): void {
    const running = this.#running;
    if (!running) return;
    this.#beat(true);
    running.stop();
    this.#running = undefined;
  }

  /**
   * Ends the activity and tells its result; what {@link start} was told need not be said again.
   * Answers the XP that it earned, or that it waits in the queue.
   *
   * Throws `RangeError` for numbers that cannot be, `ApiError` where the server refuses.
   */
  async endActivity(result: ActivityResult): Promise<Written<EndedActivity>> {
    const running = this.#running;
    const activity = check({
      ...running?.activity,
      ...pick(result, ["activityId", "activityName", "subject", "grade"]),
    });
    checkNumbers(result);
    this.#beat(false);
    const measured = running && running.activity.activityId === activity.activityId ? running.activeMs / 1000 : 0;
    const body = {
      gameId: this.game(),
      activityData: activity,
      scoreData: pick(result, ["correctQuestions", "totalQuestions"]),
      timingData: {
        durationSeconds: result.durationSeconds ?? measured,
        endedAt: new Date(this.page.now()).toISOString(),
      },
      ...pick(result, ["xpEarned", "masteredUnits"]),
    };
    running?.stop();
    this.#running = undefined;
    if (this.options.isDemo) return { ...NOTHING_EARNED, queued: false };
    return this.queue.push<EndedActivity>("POST", "/lms/end-activity", body);
  }

  /** Who learns: role, enrollments, organizations; null where the integration is switched off. */
  async context(): Promise<LearningContext | null> {
    const { lms } = await this.http.send<{ lms?: LearningContext | null }>({ method: "GET", path: "/users/me" });
    return lms ?? null;
  }

  /** Tells the time since the last beat. */
  #beat(last: boolean): void {
    const running = this.#running;
    if (!running) return;
    const spent = running.clock.take(this.page.elapsed());
    const startedAt = new Date(running.since).toISOString();
    const now = this.page.now();
    running.since = now;
    running.activeMs += spent.activeMs;
    if (spent.activeMs + spent.inactiveMs < 1 || this.options.isDemo) return;
    const body = {
      gameId: running.gameId,
      activityData: running.activity,
      timingData: {
        startedAt,
        endedAt: new Date(now).toISOString(),
        activeSeconds: seconds(spent.activeMs),
        inactiveSeconds: seconds(spent.inactiveMs),
      },
    };
    const path = "/lms/time-spent";
    const lost = (error: Error) => {
      console.warn(`Lyceum: the time of '${running.activity.activityId}' was not counted: ${error.message}`);
    };
    if (!last) {
      this.queue.push("POST", path, body).catch(lost);
      return;
    }
    try {
      this.queue.beacon("POST", path, body);
    } catch (error) {
      lost(error as Error);
    }
  }
}

const seconds = (ms: number): number => Math.round(ms) / 1000;

/** The members with these names that are set. */
function pick<T extends object, K extends keyof T>(value: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(
    names.filter((name) => value[name] !== undefined).map((name) => [name, value[name]]),
  ) as Pick<T, K>;
}

function check(activity: Partial<Activity>): Activity {
  for (const name of ["activityId", "subject", "grade"] as const) {
    if (activity[name] === undefined || activity[name] === "") {
      throw new RangeError(`'${name}' is missing; pass activityId, subject and grade to start or to endActivity`);
    }
  }
  return activity as Activity;
}

function checkNumbers(result: ActivityResult): void {
  const { correctQuestions, totalQuestions } = result;
  const whole = (number: number) => Number.isInteger(number) && number >= 0;
  if (!whole(correctQuestions) || !whole(totalQuestions) || correctQuestions > totalQuestions) {
    throw new RangeError(
      `correctQuestions (${correctQuestions}) and totalQuestions (${totalQuestions}) must be whole numbers from 0, the first not above the second`,
    );
  }
  // A penalty is less than nothing.
  if (result.xpEarned !== undefined && !Number.isFinite(result.xpEarned))
    throw new RangeError(`xpEarned (${result.xpEarned}) must be a number`);
  for (const name of ["masteredUnits", "durationSeconds"] as const) {
    const number = result[name];
    if (number !== undefined && !(Number.isFinite(number) && number >= 0))
      throw new RangeError(`${name} (${number}) must be a number from 0`);
  }
}
