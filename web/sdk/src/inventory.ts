import type { Http } from "./http.js";
import { part } from "./http.js";
import type { Queue, Written } from "./queue.js";
import type { Schemas } from "./schemas.js";

/** The slug of the item that credits are. */
export const CREDITS = "LYCEUM_CREDITS";

/** An item that players can have. */
export type Item = Schemas["InventoryItem"];

/** How many of an item the player has. */
export type Held = Schemas["HeldItem"];

/** What the player has. Items are named by id or slug. */
export class Inventory {
  constructor(
    private readonly http: Http,
    private readonly queue: Queue,
  ) {}

  /** Everything, the credits first. */
  list(): Promise<Held[]> {
    return this.http.send({ method: "GET", path: "/inventory" });
  }

  /** An item, whether the player has it or not. */
  item(item: string): Promise<Item> {
    return this.http.send({ method: "GET", path: `/items/${part(item)}` });
  }

  /** How many of an item the player has. */
  async quantity(item: string): Promise<number> {
    const entry = (await this.list()).find(({ item: { id, slug } }) => id === item || slug === item);
    return entry?.quantity ?? 0;
  }

  /** Puts some in. */
  add(item: string, qty = 1): Promise<Written<{ newTotal: number }>> {
    return this.queue.push("POST", "/inventory/add", { itemId: item, qty });
  }

  /** Takes some out; an `ApiError` of status 409 where there are fewer. */
  remove(item: string, qty = 1): Promise<Written<{ newTotal: number }>> {
    return this.queue.push("POST", "/inventory/remove", { itemId: item, qty });
  }
}

/** What players earn and spend. */
export class Credits {
  constructor(private readonly inventory: Inventory) {}

  balance(): Promise<number> {
    return this.inventory.quantity(CREDITS);
  }

  add(amount: number): Promise<Written<{ newTotal: number }>> {
    return this.inventory.add(CREDITS, amount);
  }

  spend(amount: number): Promise<Written<{ newTotal: number }>> {
    return this.inventory.remove(CREDITS, amount);
  }
}
