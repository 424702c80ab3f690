//! The projects that clients use: one with a database, keys and a bucket, and one that is deployed again and again.

use std::fs;

use crate::deploy;
use crate::served::{Key, binary};
use crate::transcript::Place;
use crate::whole_project;

pub(super) const SCORES: &str = "/_projects/word-rivers/api/scores";
pub(super) const NEWEST: &str = "/_projects/word-rivers/api/newest";
pub(super) const KEYS: &str = "/_projects/word-rivers/api/keys";
pub(super) const PAGES: &str = "/_projects/pages/";

/// Lists the rows after one of them, some at a time.
const SCORES_ROUTE: &str = "export const GET = async (c) => {
  const select = \"SELECT id, player FROM scores WHERE id > ? ORDER BY id LIMIT 500\";
  const after = Number(c.req.query(\"after\"));
  return c.json((await c.env.DB.prepare(select).bind(after).all()).results);
};
export const POST = async (c) => {
  const { player } = await c.req.json();
  const insert = \"INSERT INTO scores (player, points) VALUES (?, 1) RETURNING id\";
  return c.json(await c.env.DB.prepare(insert).bind(player).first(), 201);
};
";
const NEWEST_ROUTE: &str = "export const GET = async (c) =>
  c.json(await c.env.DB.prepare(\"SELECT MAX(id) AS id FROM scores\").first());
";
const KEYS_ROUTE: &str = "export const GET = async (c) =>
  c.json({ value: Number((await c.env.KV.get(c.req.query(\"key\"))) ?? 0) });
export const POST = async (c) => {
  const { key, value } = await c.req.json();
  await c.env.KV.put(key, String(value));
  return c.json({}, 201);
};
";

pub(super) fn object_path(name: &str) -> String {
    format!("/api/projects/word-rivers/bucket/object?key={name}")
}

fn place(base: &str, key: &Key) -> Place {
    let place = Place::new().running(binary());
    place
        .with("LYCEUM_URL", base)
        .with("LYCEUM_CLIENT_ID", &key.id)
        .with("LYCEUM_CLIENT_SECRET", &key.secret)
}

/// Deploys the project with a backend.
pub(super) fn deploy_rivers(base: &str, key: &Key) {
    let place = place(base, key);
    deploy::project(&place);
    whole_project::write(&place);
    fs::remove_file(place.path().join("server/api/summary.ts")).unwrap();
    place.write("server/api/scores.ts", SCORES_ROUTE);
    place.write("server/api/newest.ts", NEWEST_ROUTE);
    place.write("server/api/keys.ts", KEYS_ROUTE);
    place.ok("deploy --yes");
}

/// Deploys a page without a backend. The place deploys it again.
pub(super) fn deploy_page(base: &str, key: &Key) -> Place {
    let place = place(base, key);
    place.write("lyceum.config.json", r#"{ "name": "Pages", "buildPath": "dist" }"#);
    fs::create_dir(place.path().join("dist")).unwrap();
    place.write("dist/index.html", "0");
    place.ok("deploy --yes");
    place
}
