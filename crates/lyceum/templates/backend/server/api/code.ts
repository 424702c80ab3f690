import type { Context } from "hono";

/** A code that belongs to the player's name. Only the backend can make it, because it is signed with a secret. */
export const GET = async (c: Context<LyceumEnv>) => {
  const text = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", text.encode(c.env.secrets.CODE_KEY), algorithm, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, text.encode(c.get("user")?.username ?? "visitor"));
  const bytes = [...new Uint8Array(signature).subarray(0, 4)];
  return c.json({ code: bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("") });
};
