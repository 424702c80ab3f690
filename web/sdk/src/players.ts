import type { Http } from "./http.js";
import { part } from "./http.js";
import type { Queue, Written } from "./queue.js";
import type { Schemas } from "./schemas.js";

/** A player. Of other players, only `id` and `username` are shown. */
export type Player = Schemas["PlayerName"] & Partial<Schemas["PlayerProfile"]>;

/** Players. */
export class Users {
  constructor(private readonly http: Http) {}

  /** The player whose token this is. */
  me(): Promise<Player> {
    return this.http.send({ method: "GET", path: "/users/me" });
  }

  /** A player by id. */
  get(userId: string): Promise<Player> {
    return this.http.send({ method: "GET", path: `/users/${part(userId)}` });
  }
}

/** How far a player is. */
export type LevelProgress = Schemas["LevelProgress"];

/** The XP at which a level begins. */
export type Level = Schemas["Level"];

/** Levels. */
export class Levels {
  constructor(private readonly http: Http) {}

  /** The player's level. */
  progress(): Promise<LevelProgress> {
    return this.http.send({ method: "GET", path: "/levels/me" });
  }

  /** The XP at which each level begins. */
  async config(): Promise<Level[]> {
    const { levels } = await this.http.send<{ levels: Level[] }>({ method: "GET", path: "/levels/config" });
    return levels;
  }
}

/** A message for the player. */
export type Notification = Schemas["Notification"];

/** Messages for the player. */
export class Notifications {
  constructor(
    private readonly http: Http,
    private readonly queue: Queue,
  ) {}

  /** The newest first. */
  list(options: { unread?: boolean; limit?: number; offset?: number } = {}): Promise<Notification[]> {
    return this.http.send({ method: "GET", path: "/notifications", query: { ...options } });
  }

  /** The player has seen one. */
  markRead(id: string): Promise<Written<Notification>> {
    return this.queue.push("POST", `/notifications/${part(id)}/read`, {});
  }

  /** The player has seen all; answers how many were new. */
  markAllRead(): Promise<Written<{ read: number }>> {
    return this.queue.push("POST", "/notifications/read", {});
  }
}
