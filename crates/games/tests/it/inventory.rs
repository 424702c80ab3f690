//! How many of an item a player has.

use lyceum_core::{ProblemKind, Result};
use lyceum_games::inventory::{self, InventoryItem, InventoryMovement, NewInventoryItem};
use lyceum_games::limits::INVENTORY_MAX_COUNT;
use lyceum_games::visible_games::VisibleGames;
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::{ALL, body, both, game, noon, paths, run};

fn create(db: &Db, item: Value) -> Result<(InventoryItem, bool)> {
    let new: NewInventoryItem = body(item);
    run(db, move |tx| inventory::create_item(tx, new.clone()))
}

fn movement(item: &str, count: i64) -> InventoryMovement {
    body(json!({ "itemId": item, "qty": count }))
}

fn add(db: &Db, user: &'static str, item: &str, count: i64) -> Result<i64> {
    let movement = movement(item, count);
    run(db, move |tx| inventory::add(tx, noon(), user, &movement))
}

fn remove(db: &Db, item: &str, count: i64) -> Result<i64> {
    let movement = movement(item, count);
    run(db, move |tx| inventory::remove(tx, noon(), "ann", &movement))
}

fn held(db: &Db, games: &VisibleGames) -> Vec<(String, i64)> {
    let held = db.read_blocking(|tx| inventory::of_user(tx, games, "ann")).unwrap();
    held.into_iter().map(|held| (held.item.slug, held.quantity)).collect()
}

#[test]
fn quantities_add_up_and_never_fall_below_zero() {
    both(|db| {
        let (boat, _) = create(db, json!({ "slug": "boat", "displayName": "Boat" })).unwrap();
        assert_eq!(add(db, "ann", "boat", 2).unwrap(), 2);
        assert_eq!(add(db, "ann", &boat.id, 3).unwrap(), 5);
        assert_eq!(add(db, "bob", "boat", 1).unwrap(), 1);
        assert_eq!(remove(db, "boat", 4).unwrap(), 1);
        assert_eq!(remove(db, "boat", 2).unwrap_err().kind, ProblemKind::Conflict);
        assert_eq!(remove(db, "boat", 1).unwrap(), 0);
        assert_eq!(remove(db, "LYCEUM_CREDITS", 1).unwrap_err().kind, ProblemKind::Conflict);
        assert_eq!(add(db, "ann", "none", 1).unwrap_err().kind, ProblemKind::NotFound);
    });
}

#[test]
fn a_quantity_has_a_limit() {
    both(|db| {
        assert_eq!(
            add(db, "ann", "LYCEUM_CREDITS", INVENTORY_MAX_COUNT).unwrap(),
            INVENTORY_MAX_COUNT
        );
        let refused = add(db, "ann", "LYCEUM_CREDITS", 1).unwrap_err();
        assert_eq!((refused.kind, paths(&refused)), (ProblemKind::Invalid, vec!["qty"]));
        assert_eq!(
            held(db, &VisibleGames::Every),
            [("LYCEUM_CREDITS".to_owned(), INVENTORY_MAX_COUNT)]
        );
    });
}

#[test]
fn credits_are_listed_first_and_items_of_other_games_not_at_all() {
    both(|db| {
        let [rivers, planets] = ["rivers", "planets"].map(|slug| game(db, slug).id);
        let item = |slug: &str, game: Option<&str>| {
            let item = json!({ "slug": slug, "displayName": slug, "gameId": game });
            create(db, item).unwrap();
            add(db, "ann", slug, 1).unwrap();
        };
        item("anchor", None);
        item("boat", Some("rivers"));
        item("comet", Some("planets"));
        add(db, "ann", "LYCEUM_CREDITS", 1).unwrap();
        let slugs = |games: &VisibleGames| -> Vec<String> {
            held(db, games).into_iter().map(|(slug, _)| slug).collect()
        };
        assert_eq!(slugs(&VisibleGames::Every), ["LYCEUM_CREDITS", "anchor", "boat", "comet"]);
        assert_eq!(
            slugs(&VisibleGames::Only(vec![rivers.clone()])),
            ["LYCEUM_CREDITS", "anchor", "boat"]
        );
        assert_eq!(slugs(&VisibleGames::Only(vec![])), ["LYCEUM_CREDITS", "anchor"]);
        let of_game = |game: Option<&str>| -> Vec<String> {
            let items = db.read_blocking(|tx| inventory::items(tx, game, ALL)).unwrap();
            items.into_iter().map(|item| item.slug).collect()
        };
        assert_eq!(of_game(Some(planets.as_str())), ["LYCEUM_CREDITS", "anchor", "comet"]);
        assert_eq!(of_game(None).len(), 4);
    });
}

#[test]
fn a_slug_belongs_to_one_item() {
    both(|db| {
        game(db, "rivers");
        let boat =
            json!({ "slug": "boat", "displayName": "Boat", "type": "upgrade", "gameId": "rivers" });
        let (first, is_new) = create(db, boat.clone()).unwrap();
        assert!(is_new);
        let (again, is_new) = create(db, boat).unwrap();
        assert_eq!((again.id == first.id, is_new), (true, false));
        let other = create(db, json!({ "slug": "boat", "displayName": "Ship" })).map(drop);
        assert_eq!(other.unwrap_err().kind, ProblemKind::Conflict);
        let no_game = json!({ "slug": "sail", "displayName": "Sail", "gameId": "none" });
        assert_eq!(create(db, no_game).map(drop).unwrap_err().kind, ProblemKind::NotFound);
        for slug in ["", "a b", "ä", &"a".repeat(51), &first.id] {
            let item = json!({ "slug": slug, "displayName": " ", "type": "boat" });
            let refused = create(db, item).map(drop).unwrap_err();
            assert_eq!(paths(&refused), ["slug", "displayName", "type"], "{slug}");
        }
    });
}
