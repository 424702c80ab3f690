import type { Http } from "./http.js";
import { part } from "./http.js";
import type { Queue, Written } from "./queue.js";

/** A player. Of others only `id` and `username` are shown. */
export interface Player {
  id: string;
  username: string;
  name?: string;
  email?: string;
  role?: "player" | "developer" | "admin";
  developerStatus?: "none" | "pending" | "approved";
}

/** Who plays. */
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
export interface LevelProgress {
  level: number;
  totalXp: number;
  currentXp: number;
  /** None on the highest level. */
  xpToNextLevel: number | null;
  percent: number;
}

/** Where a level begins. */
export interface Level {
  level: number;
  xpRequired: number;
  creditsReward: number;
}

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

/** Something that the player is told. */
export interface Notification {
  id: string;
  type: string;
  title: string;
  message: string;
  metadata: Record<string, unknown>;
  createdAt: string;
  readAt: string | null;
}

/** What the player is told. */
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
