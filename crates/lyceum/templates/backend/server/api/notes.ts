import type { Context } from "hono";

// A file below `server/api` is a route: this one is /api/notes. Each export answers one method.

/** The latest notes, from the database. */
export const GET = async (c: Context<LyceumEnv>) => {
  const { results } = await c.env.DB.prepare("SELECT author, body FROM notes ORDER BY id DESC LIMIT 20").all();
  return c.json(results);
};

/** Adds a note of the player. */
export const POST = async (c: Context<LyceumEnv>) => {
  const { body } = await c.req.json<{ body?: string }>();
  if (!body) return c.json({ error: "body is required" }, 422);
  // The SDK sends the player's token along, so the route knows who calls.
  const author = c.get("user")?.username ?? "visitor";
  await c.env.DB.prepare("INSERT INTO notes (author, body) VALUES (?, ?)").bind(author, body).run();
  return c.json({ author, body }, 201);
};
