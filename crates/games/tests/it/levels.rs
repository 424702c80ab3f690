//! At which XP a level begins, and what reaching it brings.

use lyceum_core::ProblemKind;
use lyceum_events::limits::FACT_VALUE_MAX_COUNT;
use lyceum_games::inventory::{self, CREDITS};
use lyceum_games::levels::{self, LevelProgress, NewLevels, Xp};
use lyceum_games::notifications;
use lyceum_games::visible_games::VisibleGames;
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::{ALL, body, both, noon, paths, run};

fn earn(db: &Db, thousandths: i64) -> LevelProgress {
    run(db, move |tx| levels::earn(tx, noon(), "ann", Xp(thousandths))).unwrap();
    progress(db)
}

fn progress(db: &Db) -> LevelProgress {
    db.read_blocking(|tx| levels::progress(tx, "ann")).unwrap()
}

fn credits(db: &Db) -> i64 {
    let held = db.read_blocking(|tx| inventory::of_user(tx, &VisibleGames::Every, "ann")).unwrap();
    held.iter().filter(|held| held.item.slug == CREDITS).map(|held| held.quantity).sum()
}

/// The levels in the player's notifications, the latest first.
fn announced_levels(db: &Db) -> Vec<Value> {
    let news = db.read_blocking(|tx| notifications::of_user(tx, "ann", false, ALL)).unwrap();
    news.into_iter().map(|news| news.metadata["level"].clone()).collect()
}

fn replace(db: &Db, rows: &Value) {
    let table = body::<NewLevels>(json!({ "levels": rows })).table().unwrap();
    run(db, move |tx| levels::set_table(tx, &table)).unwrap();
}

#[test]
fn a_level_begins_exactly_at_its_xp() {
    both(|db| {
        let first = progress(db);
        assert_eq!((first.level, first.percent), (1, 0));
        assert_eq!((first.total_xp, first.xp_to_next_level), (Xp(0), Some(Xp(50_000))));
        let below = earn(db, 49_999);
        // A percentage is rounded down: 100 is for the highest level.
        assert_eq!((below.level, below.percent, below.xp_to_next_level), (1, 99, Some(Xp(1))));
        assert_eq!((credits(db), announced_levels(db).len()), (0, 0));
        let reached = earn(db, 1);
        assert_eq!((reached.level, reached.percent, reached.current_xp), (2, 0, Xp(0)));
        assert_eq!((credits(db), announced_levels(db)), (50, vec![json!(2)]));
        assert_eq!(earn(db, 0).total_xp, Xp(50_000));
        let after_penalty = earn(db, -1);
        assert_eq!((after_penalty.level, after_penalty.total_xp), (1, Xp(49_999)));
        assert_eq!(earn(db, 1).level, 2);
        assert_eq!(
            (credits(db), announced_levels(db)),
            (50, vec![json!(2)]),
            "a level brings its credits once"
        );
        assert_eq!(earn(db, -60_000).level, 1, "XP below 0 are the first level");
    });
}

#[test]
fn the_credits_of_each_passed_level_are_given_once() {
    both(|db| {
        let far = earn(db, 300_000);
        assert_eq!((far.level, credits(db)), (4, 150));
        assert_eq!(announced_levels(db).len(), 3);
        assert_eq!((earn(db, 1).level, credits(db)), (4, 150));
    });
}

#[test]
fn the_highest_level_is_complete() {
    both(|db| {
        let highest = earn(db, 9_500_000 + 1);
        assert_eq!((highest.level, highest.percent), (20, 100));
        assert_eq!((highest.xp_to_next_level, highest.current_xp), (None, Xp(1)));
    });
}

#[test]
fn a_new_table_moves_players_without_rewards() {
    both(|db| {
        earn(db, 60_000);
        replace(
            db,
            &json!([
                { "level": 1, "xpRequired": 0 },
                { "level": 2, "xpRequired": 1.5, "creditsReward": 5 },
                { "level": 3, "xpRequired": 60, "creditsReward": 7 },
            ]),
        );
        assert_eq!((progress(db).level, credits(db), announced_levels(db).len()), (3, 50, 1));
        replace(db, &json!([{ "level": 1, "xpRequired": 0 }, { "level": 2, "xpRequired": 90 }]));
        assert_eq!(progress(db).level, 1);
        // What was earned before stays earned: the level is reached again with its new credits.
        replace(
            db,
            &json!([
                { "level": 1, "xpRequired": 0 },
                { "level": 2, "xpRequired": 60.001, "creditsReward": 3 },
            ]),
        );
        assert_eq!((earn(db, 1).level, credits(db)), (2, 53));
    });
}

#[test]
fn a_table_has_consecutive_levels_and_rising_xp_from_zero() {
    let row = |level: i64, xp: f64| json!({ "level": level, "xpRequired": xp });
    let most = f64::from(FACT_VALUE_MAX_COUNT);
    for (rows, path) in [
        (vec![row(2, 0.0)], "levels[0].level"),
        (vec![row(1, 0.0), row(3, 1.0)], "levels[1].level"),
        (vec![row(1, 1.0)], "levels[0].xpRequired"),
        (vec![row(1, 0.0), row(2, 0.0)], "levels[1].xpRequired"),
        (vec![row(1, 0.0), row(2, 0.0004)], "levels[1].xpRequired"),
        (vec![row(1, 0.0), row(2, 5.0), row(3, 4.0)], "levels[2].xpRequired"),
        (vec![row(1, 0.0), row(2, most + 1.0)], "levels[1].xpRequired"),
    ] {
        let refused = body::<NewLevels>(json!({ "levels": rows })).table().unwrap_err();
        assert_eq!((refused.kind, paths(&refused)), (ProblemKind::Invalid, vec![path]));
    }
    let table = body::<NewLevels>(json!({ "levels": [row(1, 0.0), row(2, most)] })).table();
    assert_eq!(table.unwrap().len(), 2);
}
