// The worker that our host and miniflare both run: each case answers what it saw, and nothing that
// two runs could see differently.

/** What a promise came to: its value, or how it failed. */
const outcome = async (work) => {
  try {
    return { value: await work() };
  } catch (error) {
    return { error: String(error), cause: error.cause ? String(error.cause) : undefined };
  }
};

const all = async (...works) => {
  const outcomes = [];
  for (const work of works) outcomes.push(await outcome(work));
  return outcomes;
};

/** What of a D1 result is the same everywhere. */
const told = ({ results, success, meta }) => ({
  results,
  success,
  changes: meta.changes,
  lastRow: meta.last_row_id,
  changed: meta.changed_db,
});

const kept = (promise) => promise.then((result) => (Array.isArray(result) ? result.map(told) : told(result)));

const d1 = {
  async types({ DB }) {
    await DB.exec("CREATE TABLE types (i INTEGER, r REAL, t TEXT, b BLOB, n NUMERIC, x)");
    const bytes = new Uint8Array([0, 1, 254, 255]);
    return all(
      () => kept(DB.prepare("INSERT INTO types VALUES (?, ?, ?, ?, ?, ?)").bind(1, 1.5, "é\u{1F600}\n\"'\\", bytes, 3, 4).run()),
      () => kept(DB.prepare("INSERT INTO types VALUES (?1, ?2, ?3, ?4, ?5, ?6)").bind(null, null, null, null, true, false).run()),
      () => kept(DB.prepare("INSERT INTO types VALUES (9007199254740991, 1e308, '', x'', -0.0, 'text')").run()),
      () => kept(DB.prepare("SELECT *, typeof(i), typeof(r), typeof(t), typeof(b), typeof(n), typeof(x) FROM types").all()),
      () => DB.prepare("SELECT * FROM types").raw(),
      () => DB.prepare("SELECT * FROM types").raw({ columnNames: true }),
      () => DB.prepare("SELECT i, r FROM types").first(),
      () => DB.prepare("SELECT i, r FROM types").first("r"),
      () => DB.prepare("SELECT i FROM types WHERE i = 77").first(),
      () => DB.prepare("SELECT i FROM types").first("nothing"),
      () => DB.prepare("SELECT 1 AS a, 2 AS a, 3 AS b").raw({ columnNames: true }),
      () => kept(DB.prepare("SELECT 1 AS a, 2 AS a, 3 AS b").all()),
      () => kept(DB.prepare("SELECT typeof(?) AS t, typeof(?) AS u, typeof(?) AS v").bind(1, 1.5, "1").all()),
      () => DB.prepare("SELECT ?").bind({}).all(),
      () => DB.prepare("SELECT ?").bind(undefined).all(),
      () => kept(DB.prepare("SELECT 1e400 AS inf, 0.1 + 0.2 AS sum").all()),
      () => kept(DB.prepare("INSERT INTO types (i) VALUES (5) RETURNING i, t").run()),
      () => kept(DB.prepare("INSERT INTO types (i) VALUES (6) RETURNING i, t").all()),
    );
  },

  async errors({ DB }) {
    await DB.exec("CREATE TABLE errors (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, age INTEGER CHECK (age > 0))");
    await DB.exec("CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES errors (id))");
    await DB.prepare("INSERT INTO errors (name) VALUES ('a')").run();
    return all(
      () => DB.prepare("SELECT * FROM nowhere").all(),
      () => DB.prepare("SELECT nowhere FROM errors").all(),
      () => DB.prepare("SELEC 1").all(),
      () => DB.prepare("SELECT (1").all(),
      () => DB.prepare("").all(),
      () => DB.prepare("-- nothing").all(),
      () => DB.prepare("INSERT INTO errors (name) VALUES ('a')").run(),
      () => DB.prepare("INSERT INTO errors (id, name) VALUES (1, 'b')").run(),
      () => DB.prepare("INSERT INTO errors (name) VALUES (NULL)").run(),
      () => DB.prepare("INSERT INTO errors (name, age) VALUES ('c', -1)").run(),
      () => DB.prepare("INSERT INTO child (parent) VALUES (99)").run(),
      () => DB.prepare("SELECT ?, ?").bind(1).all(),
      () => DB.prepare("SELECT 1").bind(1).all(),
      () => DB.prepare("INSERT INTO errors (id, name) VALUES ('x', 'y')").run(),
      () => DB.exec("SELECT 1;\nSELEC 2;\nSELECT 3"),
      () => DB.prepare("SELECT count(*) AS n FROM errors").first("n"),
    );
  },

  async batches({ DB }) {
    await DB.exec("CREATE TABLE batches (id INTEGER PRIMARY KEY, name TEXT UNIQUE)");
    const add = DB.prepare("INSERT INTO batches (name) VALUES (?)");
    return all(
      () => kept(DB.batch([add.bind("a"), add.bind("b"), DB.prepare("SELECT * FROM batches ORDER BY id")])),
      () => DB.batch([add.bind("c"), add.bind("a")]),
      () => kept(DB.prepare("SELECT name FROM batches ORDER BY id").all()),
      () => kept(DB.prepare("UPDATE batches SET name = name || '!'").run()),
      () => kept(DB.prepare("DELETE FROM batches WHERE name = 'a!'").run()),
      () => DB.exec("INSERT INTO batches (name) VALUES ('d');\nINSERT INTO batches (name) VALUES ('e')").then(({ count }) => count),
      () => kept(DB.prepare("INSERT INTO batches (name) VALUES ('f'); SELECT name FROM batches ORDER BY id").all()),
      () => kept(DB.prepare("INSERT INTO batches (id, name) VALUES (2, 'z') ON CONFLICT (id) DO UPDATE SET name = excluded.name").run()),
      () => DB.batch([]),
      () => DB.withSession().prepare("SELECT count(*) AS n FROM batches").first("n"),
      () => kept(DB.prepare("PRAGMA table_info(batches)").all()),
      () => kept(DB.prepare("SELECT json_extract('{\"a\":[1,2]}', '$.a[1]') AS j, json_group_array(name) AS names FROM batches").all()),
    );
  },

  async forbidden({ DB }) {
    const refused = async (sql) => (await outcome(() => DB.prepare(sql).all())).error !== undefined;
    const statements = [
      "ATTACH DATABASE '/tmp/lyceum-stolen.db' AS other",
      "DETACH DATABASE main",
      "BEGIN",
      "COMMIT",
      "SAVEPOINT a",
      "PRAGMA journal_mode = DELETE",
      "PRAGMA writable_schema = ON",
      "VACUUM INTO '/tmp/lyceum-stolen.db'",
      "SELECT load_extension('/tmp/x.so')",
      "SELECT readfile('/etc/passwd')",
    ];
    return Promise.all(statements.map(refused));
  },
};

const kv = {
  async values({ KV }) {
    const bytes = new Uint8Array([0, 1, 254, 255]);
    await KV.put("text", "é\u{1F600}");
    await KV.put("json", JSON.stringify({ a: [1, null] }));
    await KV.put("bytes", bytes);
    await KV.put("stream", new Blob(["from a stream"]).stream());
    await KV.put("a/b?c=d&e#f %25", "odd");
    await KV.put("empty", "");
    await KV.put("noted", "x", { metadata: { who: "é", n: 1 } });
    await KV.put("gone", "x");
    await KV.delete("gone");
    await KV.delete("never");
    return all(
      () => KV.get("text"),
      () => KV.get("json", "json"),
      () => KV.get("bytes", "arrayBuffer").then((buffer) => [...new Uint8Array(buffer)]),
      () => KV.get("stream"),
      () => KV.get("a/b?c=d&e#f %25"),
      () => KV.get("empty"),
      () => KV.get("gone"),
      () => KV.get("text", "json"),
      () => KV.getWithMetadata("noted").then(({ value, metadata }) => ({ value, metadata })),
      () => KV.getWithMetadata("text").then(({ value, metadata }) => ({ value, metadata })),
      () => KV.getWithMetadata("never").then(({ value, metadata }) => ({ value, metadata })),
      () => KV.get(["text", "never", "json"]).then((map) => [...map]),
      () => KV.get(["json"], "json").then((map) => [...map]),
      () => KV.getWithMetadata(["noted", "never"]).then((map) => [...map]),
    );
  },

  async lists({ KV }) {
    for (const name of ["l/b", "l/a", "l/é", "l/\u{1F600}", "l/\uFFFD", "l/B", "m"]) {
      await KV.put(name, "x", name === "l/a" ? { metadata: [1] } : {});
    }
    const first = await KV.list({ prefix: "l/", limit: 2 });
    return all(
      () => KV.list({ prefix: "l/" }),
      () => first,
      () => KV.list({ prefix: "l/", limit: 2, cursor: first.cursor }),
      () => KV.list({ prefix: "nothing" }),
      () => KV.list({ limit: 0 }),
      () => KV.list({ limit: 1001 }),
    );
  },

  async refusals({ KV }) {
    const long = "k".repeat(513);
    return all(
      () => KV.put("", "x"),
      () => KV.put(".", "x"),
      () => KV.put(long, "x"),
      () => KV.get(long),
      () => KV.put("k", "x", { expirationTtl: 1 }),
      () => KV.put("k", "x", { expirationTtl: 0 }),
      () => KV.put("k", "x", { expirationTtl: -5 }),
      () => KV.put("k", "x", { expiration: 1 }),
      () => KV.put("k", "x", { metadata: "m".repeat(1025) }),
      () => KV.get("k", { cacheTtl: 1 }),
      () => KV.put("k".repeat(512), "x"),
      () => KV.put("e", "x", { expirationTtl: 60 }),
      () => KV.get("e"),
      () => KV.get(Array(101).fill("x")),
    );
  },
};

/** What of an object is the same everywhere. */
const seen = async (object) =>
  object && {
    key: object.key,
    size: object.size,
    etag: object.etag,
    httpEtag: object.httpEtag,
    http: { ...object.httpMetadata, cacheExpiry: object.httpMetadata?.cacheExpiry?.getTime() },
    custom: object.customMetadata,
    range: object.range,
    checksums: object.checksums?.toJSON(),
    version: typeof object.version,
    uploaded: object.uploaded instanceof Date && Math.abs(Date.now() - object.uploaded) < 60_000,
    body: object.body && (await object.text()),
  };

const listed = async (promise) => {
  const { objects, truncated, cursor, delimitedPrefixes } = await promise;
  return {
    keys: objects.map((o) => [o.key, o.size, { ...o.httpMetadata }, { ...o.customMetadata }]),
    truncated,
    cursor: typeof cursor,
    delimitedPrefixes,
  };
};

const hash = async (name, text) => [...new Uint8Array(await crypto.subtle.digest(name, new TextEncoder().encode(text)))].map((b) => b.toString(16).padStart(2, "0")).join("");

const r2 = {
  async objects({ BUCKET }) {
    const headers = new Headers({
      "content-type": "text/x",
      "content-language": "de",
      "content-disposition": "inline",
      "content-encoding": "x",
      "cache-control": "no-store",
      expires: "Wed, 21 Oct 2026 07:28:00 GMT",
    });
    return all(
      async () => seen(await BUCKET.put("text", "héllo")),
      async () => seen(await BUCKET.put("bytes", new Uint8Array([0, 1, 254]), { httpMetadata: { contentType: "a/b", cacheExpiry: new Date(1e12) }, customMetadata: { who: "é", b: "2" } })),
      async () => seen(await BUCKET.put("headed", "x", { httpMetadata: headers })),
      async () => seen(await BUCKET.put("stream", new Blob(["from a stream"]).stream())),
      async () => seen(await BUCKET.put("empty", "")),
      async () => seen(await BUCKET.put("nothing", null)),
      async () => seen(await BUCKET.put("../odd/ key?&%25\u{1F600}", "odd")),
      async () => seen(await BUCKET.get("text")),
      async () => seen(await BUCKET.head("bytes")),
      async () => seen(await BUCKET.get("bytes")),
      async () => seen(await BUCKET.get("headed")),
      async () => seen(await BUCKET.get("stream")),
      async () => seen(await BUCKET.get("empty")),
      async () => seen(await BUCKET.get("../odd/ key?&%25\u{1F600}")),
      async () => seen(await BUCKET.get("never")),
      async () => seen(await BUCKET.head("never")),
      async () => { const h = new Headers(); (await BUCKET.get("headed")).writeHttpMetadata(h); return [...h]; },
      async () => seen(await BUCKET.put("text", "again")),
      async () => seen(await BUCKET.get("text")),
      async () => BUCKET.delete("text"),
      async () => BUCKET.delete("text"),
      async () => BUCKET.delete(["bytes", "never", "empty"]),
      async () => listed(BUCKET.list()),
      async () => seen(await BUCKET.get("stream")),
    );
  },

  async ranges({ BUCKET }) {
    await BUCKET.put("range", "0123456789");
    const ranges = [
      { offset: 2 },
      { offset: 2, length: 3 },
      { length: 4 },
      { suffix: 3 },
      { suffix: 99 },
      { offset: 8, length: 99 },
      { offset: 10 },
      { offset: 11 },
      { length: 0 },
      { suffix: 0 },
      { offset: -1 },
    ];
    const headers = ["bytes=2-4", "bytes=7-", "bytes=-3", "bytes=0-99", "bytes=99-", "bytes=4-2", "bytes=0-1,3-4", "bytes=-99", "rows=1-2", "bytes=", "bytes=0-0"];
    return all(
      ...ranges.map((range) => async () => seen(await BUCKET.get("range", { range }))),
      ...headers.map((range) => async () => seen(await BUCKET.get("range", { range: new Headers({ range }) }))),
    );
  },

  async conditions({ BUCKET }) {
    const { etag } = await BUCKET.put("cond", "1");
    const past = new Date(Date.now() - 3_600_000);
    const future = new Date(Date.now() + 3_600_000);
    const gets = [
      { etagMatches: etag },
      { etagMatches: "other" },
      { etagDoesNotMatch: etag },
      { etagDoesNotMatch: "other" },
      { etagMatches: "*" },
      { etagDoesNotMatch: "*" },
      { uploadedBefore: future },
      { uploadedBefore: past },
      { uploadedAfter: past },
      { uploadedAfter: future },
      { etagMatches: etag, uploadedBefore: past },
      { etagDoesNotMatch: "other", uploadedAfter: future },
      { uploadedAfter: past, secondsGranularity: true },
    ];
    const headers = [
      { "if-match": `"${etag}"` },
      { "if-match": `W/"${etag}"` },
      { "if-none-match": `W/"${etag}"` },
      { "if-none-match": `"a", "${etag}"` },
      { "if-modified-since": past.toUTCString() },
      { "if-unmodified-since": past.toUTCString() },
    ];
    return all(
      ...gets.map((onlyIf) => async () => seen(await BUCKET.get("cond", { onlyIf }))),
      ...headers.map((onlyIf) => async () => seen(await BUCKET.get("cond", { onlyIf: new Headers(onlyIf) }))),
      async () => seen(await BUCKET.put("cond", "2", { onlyIf: { etagMatches: "other" } })),
      async () => seen(await BUCKET.put("cond", "2", { onlyIf: { etagDoesNotMatch: "*" } })),
      async () => seen(await BUCKET.put("new", "2", { onlyIf: { etagMatches: "*" } })),
      async () => seen(await BUCKET.put("new", "2", { onlyIf: { etagDoesNotMatch: "*" } })),
      async () => seen(await BUCKET.put("newer", "2", { onlyIf: { uploadedAfter: past } })),
      async () => seen(await BUCKET.put("newer", "2", { onlyIf: { uploadedBefore: past } })),
      async () => seen(await BUCKET.put("cond", "3", { onlyIf: { etagMatches: etag } })),
      async () => seen(await BUCKET.get("cond", { onlyIf: { etagMatches: etag } })),
    );
  },

  async checksums({ BUCKET }) {
    const [sha1, sha256, sha384, sha512] = await Promise.all(["SHA-1", "SHA-256", "SHA-384", "SHA-512"].map((name) => hash(name, "sum")));
    const md5 = await hash("MD5", "sum");
    return all(
      async () => seen(await BUCKET.put("sum", "sum", { md5 })),
      async () => seen(await BUCKET.put("sum", "sum", { sha1 })),
      async () => seen(await BUCKET.put("sum", "sum", { sha256 })),
      async () => seen(await BUCKET.put("sum", "sum", { sha384 })),
      async () => seen(await BUCKET.put("sum", "sum", { sha512 })),
      async () => seen(await BUCKET.head("sum")),
      async () => seen(await BUCKET.put("sum", "other", { md5 })),
      async () => seen(await BUCKET.put("sum", "other", { sha256 })),
      async () => seen(await BUCKET.get("sum")),
    );
  },

  async lists({ BUCKET }) {
    for (const key of ["p/a", "p/b/1", "p/b/2", "p/B", "p/c", "p/é", "p/\u{1F600}", "p/\uFFFD", "q"]) {
      await BUCKET.put(key, key, { httpMetadata: { contentType: "t/t" }, customMetadata: { key } });
    }
    const pages = async (options) => {
      const pages = [];
      for (let cursor; ; ) {
        const page = await BUCKET.list({ ...options, cursor });
        pages.push([page.objects.map((o) => o.key), page.delimitedPrefixes, page.truncated]);
        if (!page.truncated) return pages;
        cursor = page.cursor;
      }
    };
    return all(
      () => listed(BUCKET.list({ prefix: "p/" })),
      () => listed(BUCKET.list({ prefix: "p/", include: ["httpMetadata"] })),
      () => listed(BUCKET.list({ prefix: "p/", include: ["customMetadata"] })),
      () => listed(BUCKET.list({ prefix: "p/", include: ["httpMetadata", "customMetadata"] })),
      () => listed(BUCKET.list({ prefix: "p/", delimiter: "/" })),
      () => listed(BUCKET.list({ delimiter: "/" })),
      () => listed(BUCKET.list({ delimiter: "b/" })),
      () => pages({ prefix: "p/", limit: 2 }),
      () => pages({ prefix: "p/", limit: 1, delimiter: "/" }),
      () => pages({ prefix: "p/", limit: 3, startAfter: "p/b" }),
      () => listed(BUCKET.list({ prefix: "p/", startAfter: "p/c" })),
      () => listed(BUCKET.list({ prefix: "nowhere" })),
      () => listed(BUCKET.list({ limit: 0 })),
      () => listed(BUCKET.list({ limit: 1001 })),
      () => listed(BUCKET.list({ limit: 1000, prefix: "q" })),
    );
  },

  async refusals({ BUCKET }) {
    const long = "k".repeat(1025);
    return all(
      () => BUCKET.put(long, "x"),
      () => BUCKET.get(long),
      () => BUCKET.head(long),
      () => BUCKET.delete(long),
      async () => seen(await BUCKET.put("k".repeat(1024), "x")),
      () => BUCKET.put("meta", "x", { customMetadata: { a: "v".repeat(2048) } }),
      () => BUCKET.put("meta", "x", { customMetadata: { a: "é".repeat(2047) } }).then(() => "kept"),
      () => BUCKET.put("meta", "x", { customMetadata: { a: "\u0101".repeat(1024) } }),
      () => BUCKET.put("unknown", new ReadableStream()),
      () => BUCKET.put("", "x").then(() => "kept"),
    );
  },

  async multipart({ BUCKET }) {
    const part = (letter, size = 5 * 1024 * 1024) => letter.repeat(size);
    const upload = await BUCKET.createMultipartUpload("big", { httpMetadata: { contentType: "b/b" }, customMetadata: { a: "b" } });
    const [one, two] = [await upload.uploadPart(1, part("a")), await upload.uploadPart(2, part("b", 10))];
    const failing = async (...sizes) => {
      const upload = await BUCKET.createMultipartUpload("failing");
      const parts = [];
      for (const [index, size] of sizes.entries()) parts.push(await upload.uploadPart(index + 1, part("c", size)));
      return outcome(async () => seen(await upload.complete(parts)));
    };
    const big = 5 * 1024 * 1024;
    return all(
      () => [one.partNumber, typeof one.etag],
      () => upload.complete([{ partNumber: 1, etag: "wrong" }]),
      () => upload.complete([{ ...one, partNumber: 3 }]),
      async () => seen(await upload.complete([two, one])),
      async () => seen(await upload.complete([one, two])),
      () => upload.uploadPart(3, "x"),
      () => upload.abort(),
      async () => seen(await BUCKET.head("big")),
      async () => seen(await BUCKET.get("big", { range: { offset: big - 3, length: 6 } })),
      async () => seen(await BUCKET.get("big", { range: { suffix: 4 } })),
      () => failing(10, 10),
      () => failing(big + 1, big),
      () => failing(big, big + 1),
      () => failing(big, big + 1, 5),
      () => failing(3),
      async () => { const gone = await BUCKET.createMultipartUpload("gone"); await gone.uploadPart(1, "x"); await gone.abort(); return outcome(() => gone.uploadPart(1, "x")); },
      () => BUCKET.resumeMultipartUpload("big", "no-upload").uploadPart(1, "x"),
      () => BUCKET.resumeMultipartUpload("big", "no-upload").complete([]),
      () => BUCKET.resumeMultipartUpload("big", "no-upload").abort(),
      async () => { await BUCKET.put("big", "small"); return seen(await BUCKET.get("big")); },
      () => BUCKET.delete("big"),
    );
  },
};

const self = {
  async paths({ SELF }) {
    return all(
      () => SELF.fetch("/api/echo?x=1").then((r) => r.json()),
      () => SELF.fetch("/api/echo", { method: "POST", body: "hi" }).then((r) => r.json()),
      () => SELF.fetch("http://self/api/echo").then((r) => r.json()),
      () => SELF.fetch(new Request("http://self/api/echo", { method: "PUT", body: "hi" })).then((r) => r.json()),
    );
  },
};

const cases = { d1, kv, r2, self };

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const [, area, name] = url.pathname.split("/");
    if (area === "cases") {
      return Response.json(Object.entries(cases).flatMap(([area, list]) => Object.keys(list).map((name) => `${area}/${name}`)));
    }
    if (area === "api") {
      return Response.json({ method: request.method, path: url.pathname + url.search, body: await request.text() });
    }
    const run = cases[area]?.[name];
    return run ? Response.json(await run(env)) : new Response("no such case", { status: 404 });
  },
};
