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

const cases = { d1, kv, self };

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
