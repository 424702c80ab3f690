//! Goals that are reached step by step, and unlocked once.

use lyceum_core::ProblemKind;
use lyceum_core::time::Timestamp;
use lyceum_games::achievements::{self, Achievement, AchievementDefinition, AchievementProgress};
use lyceum_games::inventory;
use lyceum_games::levels::{self, Xp};
use lyceum_games::limits::ACHIEVEMENTS_MAX_COUNT;
use lyceum_games::notifications;
use lyceum_games::visible_games::VisibleGames;
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::{ALL, at, body, both, noon, paths, run};

fn define(db: &Db, name: &'static str, definition: Value) -> (Achievement, bool) {
    let new: AchievementDefinition = body(definition);
    run(db, move |tx| achievements::define(tx, "rivers", name, new.clone())).unwrap()
}

fn laps(db: &Db) -> (Achievement, bool) {
    let laps = json!({ "title": "Ten laps", "goal": 10, "xpReward": 60.5, "creditsReward": 25 });
    define(db, "laps", laps)
}

fn advance(db: &Db, now: Timestamp, progress: Option<i64>) -> AchievementProgress {
    let rule = move |tx: &mut lyceum_store::Tx<'_>| {
        achievements::advance(tx, now, "rivers", "ann", "laps", progress)
    };
    run(db, rule).unwrap()
}

#[test]
fn progress_never_decreases_and_ends_at_the_goal() {
    both(|db| {
        laps(db);
        for (sent, stored) in [(4, 4), (3, 4), (9, 9)] {
            let reached = advance(db, noon(), Some(sent));
            assert_eq!((reached.progress, reached.unlocked_at), (stored, None));
        }
        let unlocked = advance(db, noon(), Some(12));
        assert_eq!((unlocked.progress, unlocked.unlocked_at), (10, Some(noon())));
        let later = at("2026-11-03T12:00:00Z");
        for sent in [Some(10), Some(1), None] {
            let again = advance(db, later, sent);
            assert_eq!((again.progress, again.unlocked_at), (10, Some(noon())));
        }
    });
}

#[test]
fn unlocking_rewards_once() {
    both(|db| {
        laps(db);
        for _ in 0..2 {
            assert_eq!(advance(db, noon(), None).progress, 10);
        }
        // 60.5 XP reach level 2, which brings 50 credits besides the achievement's own 25.
        let level = db.read_blocking(|tx| levels::progress(tx, "ann")).unwrap();
        assert_eq!((level.level, level.total_xp), (2, Xp(60_500)));
        let held =
            db.read_blocking(|tx| inventory::of_user(tx, &VisibleGames::Every, "ann")).unwrap();
        assert_eq!((held.len(), held[0].quantity), (1, 75));
        let news = db.read_blocking(|tx| notifications::of_user(tx, "ann", true, ALL)).unwrap();
        let kinds: Vec<&str> = news.iter().map(|news| news.kind.as_str()).collect();
        assert_eq!(kinds, ["level", "achievement"]);
    });
}

#[test]
fn a_new_definition_keeps_id_and_progress() {
    both(|db| {
        let (first, is_new) = laps(db);
        assert!(is_new);
        advance(db, noon(), Some(4));
        let (second, is_new) = define(db, "laps", json!({ "title": "Five laps", "goal": 5 }));
        assert_eq!((second.id == first.id, is_new, second.xp_reward), (true, false, Xp(0)));
        let listed = db.read_blocking(|tx| achievements::of_user(tx, "rivers", "ann")).unwrap();
        assert_eq!(listed[0].achievement.title, "Five laps");
        assert_eq!((listed[0].progress, listed[0].unlocked_at), (4, None));
        assert_eq!(advance(db, noon(), Some(5)).unlocked_at, Some(noon()));
        let of_bob = db.read_blocking(|tx| achievements::of_user(tx, "rivers", "bob")).unwrap();
        assert_eq!((of_bob[0].progress, of_bob[0].unlocked_at), (0, None));
        let other_game = db.read_blocking(|tx| achievements::of_user(tx, "planets", "ann"));
        assert!(other_game.unwrap().is_empty());
    });
}

#[test]
fn names_have_plain_characters_and_achievements_a_limit() {
    both(|db| {
        let define = |name: String| {
            let new: AchievementDefinition = body(json!({ "title": "One" }));
            run(db, move |tx| achievements::define(tx, "rivers", &name, new.clone()).map(drop))
        };
        for name in ["", "a b", "ä", &"a".repeat(51)] {
            let refused = define(name.to_owned()).unwrap_err();
            assert_eq!(paths(&refused), ["name"], "{name}");
        }
        run(db, move |tx| {
            for number in 0..ACHIEVEMENTS_MAX_COUNT {
                let new: AchievementDefinition = body(json!({ "title": "One" }));
                achievements::define(tx, "rivers", &format!("a-{number}"), new)?;
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(define("more".into()).unwrap_err().kind, ProblemKind::Conflict);
        define("a-0".into()).unwrap();
        let unknown = run(db, |tx| {
            achievements::advance(tx, noon(), "rivers", "ann", "unknown", None).map(drop)
        });
        assert_eq!(unknown.unwrap_err().kind, ProblemKind::NotFound);
    });
}
