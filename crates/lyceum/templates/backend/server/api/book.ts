import type { Context } from "hono";

interface Note {
  author: string;
  body: string;
}

/** Writes all notes into a file of the bucket. It reads them from the route /api/notes of this backend, through `SELF`. */
export const POST = async (c: Context<LyceumEnv>) => {
  const answer = await c.env.SELF.fetch("/api/notes");
  const notes = (await answer.json()) as Note[];
  const lines = notes.map(({ author, body }) => `${author}: ${body}\n`);
  await c.env.BUCKET.put("files/book.txt", lines.join(""), { httpMetadata: { contentType: "text/plain" } });
  return c.json({ notes: notes.length }, 201);
};
