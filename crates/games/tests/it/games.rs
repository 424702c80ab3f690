//! Games have a slug of their own.

use lyceum_core::{ProblemKind, Result};
use lyceum_games::games::{self, Game, GameChange, NewGame};
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::{at, body, both, game, noon, paths, run};

fn create(db: &Db, game: Value) -> Result<(Game, bool)> {
    let new: NewGame = body(game);
    run(db, move |tx| games::create(tx, noon(), Clone::clone(&new)))
}

#[test]
fn a_slug_belongs_to_one_game() {
    both(|db| {
        let atlas = json!({ "slug": "atlas", "displayName": "Atlas", "metadata": { "age": 8 } });
        let (first, is_new) = create(db, atlas.clone()).unwrap();
        assert_eq!((first.platform.as_str(), is_new), ("web", true));
        let (again, is_new) = create(db, atlas).unwrap();
        assert_eq!((again.id == first.id, is_new), (true, false));
        let other = create(db, json!({ "slug": "atlas", "displayName": "Another" })).map(drop);
        assert_eq!(other.unwrap_err().kind, ProblemKind::Conflict);
        for slug in ["", "Atlas", "-a", "a-", "a--b", "a_b", &"a".repeat(51), &first.id] {
            let refused = create(db, json!({ "slug": slug, "displayName": "Bad" })).map(drop);
            assert_eq!(paths(&refused.unwrap_err()), ["slug"], "{slug}");
        }
        create(db, json!({ "slug": "a".repeat(50), "displayName": "Long" })).unwrap();
    });
}

#[test]
fn a_change_keeps_all_fields_that_it_does_not_contain() {
    both(|db| {
        let before = game(db, "atlas");
        let later = at("2026-11-03T12:00:00Z");
        let change = |which: &str, change: Value| {
            let (which, change): (String, GameChange) = (which.to_owned(), body(change));
            run(db, move |tx| games::change(tx, later, &which, change.clone()))
        };
        change("atlas", json!({ "description": "Maps", "metadata": { "age": 8 } })).unwrap();
        change(&before.id, json!({ "emoji": "🗺" })).unwrap();
        let after = db.read_blocking(|tx| games::find(tx, "atlas")).unwrap();
        assert_eq!(
            (after.description.as_deref(), after.emoji.as_deref()),
            (Some("Maps"), Some("🗺"))
        );
        assert_eq!((after.display_name.as_str(), &after.metadata["age"]), ("atlas", &json!(8)));
        assert_eq!((after.created_at, after.updated_at), (noon(), later));
        let refused = change("atlas", json!({ "displayName": " " })).map(drop).unwrap_err();
        assert_eq!(paths(&refused), ["displayName"]);
        let unknown = change("unknown", json!({})).map(drop).unwrap_err();
        assert_eq!(unknown.kind, ProblemKind::NotFound);
    });
}
