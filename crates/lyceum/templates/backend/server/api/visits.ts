import type { Context } from "hono";

/** Counts a visit, in the key-value store. */
export const POST = async (c: Context<LyceumEnv>) => {
  const visits = Number((await c.env.KV.get("visits")) ?? 0) + 1;
  await c.env.KV.put("visits", String(visits));
  return c.json({ visits });
};
