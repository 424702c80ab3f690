import type { Context } from "hono";

/** A file in the bucket. `[name]` in the name of this file is a parameter of the path. */
export const GET = async (c: Context<LyceumEnv>) => {
  const object = await c.env.BUCKET.get(`files/${c.req.param("name")}`);
  if (!object) return c.json({ error: "there is no such file" }, 404);
  // The media type and how long browsers may keep the file: what the upload said.
  const headers = new Headers({ "content-type": "application/octet-stream" });
  object.writeHttpMetadata(headers);
  return new Response(object.body, { headers });
};

/** Stores a file. */
export const PUT = async (c: Context<LyceumEnv>) => {
  const contentType = c.req.header("content-type") ?? "application/octet-stream";
  const bytes = await c.req.arrayBuffer();
  await c.env.BUCKET.put(`files/${c.req.param("name")}`, bytes, { httpMetadata: { contentType } });
  return c.json({ size: bytes.byteLength }, 201);
};
