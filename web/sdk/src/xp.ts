import type { Http } from "./http.js";
import type { Schemas } from "./schemas.js";

/** The XP of a day in the time zone of the request. */
export type DayXp = Schemas["DayXp"];

/** XP: 1 is a minute of learning. Days are those of the learner's time zone unless another is named. */
export class Xp {
  constructor(private readonly http: Http) {}

  today(options: { timezone?: string } = {}): Promise<DayXp> {
    return this.http.send({
      method: "GET",
      path: "/lms/xp/today",
      query: { timezone: options.timezone ?? localZone() },
    });
  }

  async total(): Promise<number> {
    const { totalXp } = await this.http.send<{ totalXp: number }>({ method: "GET", path: "/lms/xp/total" });
    return totalXp;
  }

  /** Days from `startDate` to `endDate`, both included. By default the server's usual range. */
  async history(options: { startDate?: string; endDate?: string; timezone?: string } = {}): Promise<DayXp[]> {
    const query = { ...options, timezone: options.timezone ?? localZone() };
    const { history } = await this.http.send<{ history: DayXp[] }>({ method: "GET", path: "/lms/xp/history", query });
    return history;
  }

  /** Today and in all. */
  async summary(options: { timezone?: string } = {}): Promise<{ today: number; total: number }> {
    const [today, total] = await Promise.all([this.today(options), this.total()]);
    return { today: today.xp, total };
  }
}

const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
