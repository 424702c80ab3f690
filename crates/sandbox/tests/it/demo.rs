//! The demo data: written once, and never over what the developer did.

use lyceum_access::{Player, person};
use lyceum_core::Reach;
use lyceum_core::time::Timestamp;
use lyceum_games::games::{self, NewGame};
use lyceum_games::inventory::{self, CREDITS};
use lyceum_games::levels;
use lyceum_games::scores::{self, Board, Timeframe};
use lyceum_games::visible_games::VisibleGames;
use lyceum_games::{PageRequest, achievements, lms, players};
use lyceum_project::Course;
use lyceum_sandbox::{DatabaseFile, Demo, DemoLearner, Sandbox, SchoolRole, USER_ID};
use lyceum_store::Db;
use lyceum_testserver::migrations;
use serde_json::json;
use tempfile::tempdir;

const URL: &str = "http://localhost:4321";
const ALL: PageRequest = PageRequest { limit: 100, offset: 0 };

fn now() -> Timestamp {
    "2026-11-02T12:00:00Z".parse().unwrap()
}

fn demo(learner: DemoLearner) -> Demo {
    let project: NewGame =
        serde_json::from_value(json!({ "slug": "rivers", "displayName": "Rivers" })).unwrap();
    Demo { project, role: players::PlayerRole::Developer, seeds: true, learner }
}

fn math() -> DemoLearner {
    let course = Course {
        subject: "Math".into(),
        grade: "3".into(),
        total_xp: None,
        masterable_units: None,
        title: None,
        course_code: None,
    };
    DemoLearner { courses: vec![course], ..DemoLearner::default() }
}

fn open(file: DatabaseFile, demo: &Demo) -> Sandbox {
    Sandbox::open(file, &migrations(), now(), URL, demo).unwrap()
}

fn credits(db: &Db, user: &str) -> i64 {
    let held = db.read_blocking(|tx| inventory::of_user(tx, &VisibleGames::Every, user)).unwrap();
    held.iter().filter(|held| held.item.slug == CREDITS).map(|held| held.quantity).sum()
}

#[test]
fn a_new_sandbox_has_a_player_with_history_and_classmates() {
    let sandbox = open(DatabaseFile::in_memory().unwrap(), &demo(math()));
    let Sandbox { db, player, .. } = &sandbox;
    let Player { user, game } = player;
    assert_eq!((user.as_str(), credits(db, user)), (USER_ID, 1000));
    let level = db.read_blocking(|tx| levels::progress(tx, user)).unwrap();
    assert_eq!(level.level, 1);
    assert!(level.total_xp.0 > 0, "the demo user has learned before");
    let board = (game.as_str(), Board::Players);
    let lines = db.read_blocking(|tx| {
        scores::leaderboard(tx, now(), board, Timeframe::AllTime, ALL, &Reach::Everything)
    });
    let names: Vec<String> = lines.unwrap().into_iter().map(|line| line.username).collect();
    assert_eq!(names, ["nova", "milo", "ines"]);
    let goals = db.read_blocking(|tx| achievements::of_user(tx, game, user)).unwrap();
    assert_eq!(goals.len(), 3);
    let found = db.read_blocking(|tx| games::find(tx, "rivers")).unwrap();
    assert_eq!((&found.id, found.mock), (game, true));
    let taught = db.read_blocking(|tx| lms::find(tx, &found)).unwrap();
    assert_eq!(taught.courses[0].course_id, "mock-math-3");
}

#[test]
fn a_restart_keeps_what_the_developer_did() {
    let folder = tempdir().unwrap();
    let file = || DatabaseFile::on_disk(&folder.path().join("sandbox.db"), false).unwrap();
    let first = open(file(), &demo(math()));
    let (link, player) = (first.link.clone(), first.player.clone());
    let spend = |tx: &mut lyceum_store::Tx<'_>| {
        let movement = serde_json::from_value(json!({ "itemId": CREDITS, "qty": 400 })).unwrap();
        inventory::remove(tx, now(), USER_ID, &movement)
    };
    assert_eq!(first.db.write_blocking(spend).unwrap(), 600);
    let xp = |db: &Db| db.read_blocking(|tx| levels::progress(tx, USER_ID)).unwrap().total_xp;
    let earned = xp(&first.db);
    drop(first);
    let second = open(file(), &demo(math()));
    assert_eq!((second.player.user, second.player.game), (player.user, player.game));
    assert_eq!((credits(&second.db, USER_ID), xp(&second.db)), (600, earned));
    // Each start has a new link to the console, which replaces the former one.
    let opens = |link: String| {
        second
            .db
            .write_blocking(move |tx| person::of_entry_link(tx, now(), &link))
            .unwrap()
            .is_some()
    };
    assert_eq!((opens(link), opens(second.link.clone())), (false, true));
}

#[test]
fn without_seeds_there_are_only_the_user_and_the_project() {
    let demo = Demo { seeds: false, ..demo(math()) };
    let sandbox = open(DatabaseFile::in_memory().unwrap(), &demo);
    let Sandbox { db, player, .. } = &sandbox;
    assert_eq!(credits(db, &player.user), 0);
    let goals = db.read_blocking(|tx| achievements::of_user(tx, &player.game, &player.user));
    assert!(goals.unwrap().is_empty());
}

#[test]
fn only_a_student_has_learning_history() {
    let teacher = DemoLearner { role: SchoolRole::Teacher, ..math() };
    let elsewhere = DemoLearner { elsewhere: true, ..math() };
    let named = DemoLearner { student_id: Some("ann".into()), ..math() };
    for (learner, user, has_learned) in
        [(teacher, USER_ID, false), (elsewhere, USER_ID, false), (named, "ann", true)]
    {
        let sandbox = open(DatabaseFile::in_memory().unwrap(), &demo(learner));
        let Sandbox { db, player, .. } = &sandbox;
        assert_eq!(player.user, user);
        let progress = db.read_blocking(|tx| levels::progress(tx, user)).unwrap();
        assert_eq!(progress.total_xp.0 > 0, has_learned, "{user}");
    }
}
