//! Visitors without a roster record: demo visitors of one game, and persons.

use lyceum_core::{ProblemKind, Reach};
use lyceum_games::limits::{DEMO_KEPT_DAYS, DEMO_SCORES_MAX_COUNT};
use lyceum_games::scores::{self, Board, NewGameScore, Timeframe};
use lyceum_games::visitors::{self, Visitor};
use lyceum_store::Db;
use serde_json::json;

use crate::{ALL, body, both, game, noon, run};

fn demo(db: &Db, game: &lyceum_games::games::Game) -> Visitor {
    let game = game.clone();
    run(db, move |tx| visitors::begin_demo(tx, noon(), &game)).unwrap()
}

/// The players on a board of a game.
fn board(db: &Db, game: &str, board: Board) -> Vec<String> {
    let lines = db.read_blocking(|tx| {
        let (timeframe, reach) = (Timeframe::AllTime, Reach::Everything);
        scores::leaderboard(tx, noon(), (game, board), timeframe, ALL, &reach)
    });
    lines.unwrap().into_iter().map(|line| line.username).collect()
}

fn submit(db: &Db, game: &str, user: &str) -> lyceum_core::Result<()> {
    submit_many(db, game, user, 1)
}

fn submit_many(db: &Db, game: &str, user: &str, count: i64) -> lyceum_core::Result<()> {
    let (game, user) = (game.to_owned(), user.to_owned());
    run(db, move |tx| {
        (0..count).try_for_each(|_| {
            let new: NewGameScore = body(json!({ "score": 1 }));
            scores::submit(tx, noon(), &game, &user, new).map(drop)
        })
    })
}

#[test]
fn a_demo_visitor_plays_one_game_and_has_a_limited_number_of_scores() {
    both(|db| {
        let [rivers, planets] = ["rivers", "planets"].map(|slug| game(db, slug));
        let visitor = demo(db, &rivers);
        submit_many(db, &rivers.id, &visitor.id, DEMO_SCORES_MAX_COUNT).unwrap();
        let more = submit(db, &rivers.id, &visitor.id).unwrap_err();
        assert_eq!(more.kind, ProblemKind::TooManyRequests);
        assert_eq!(submit(db, &planets.id, &visitor.id).unwrap_err().kind, ProblemKind::Forbidden);
        submit(db, &rivers.id, "ann").unwrap();
        assert_eq!(board(db, &rivers.id, Board::Demo), [visitor.username]);
        assert_eq!(board(db, &rivers.id, Board::Players).len(), 1);
    });
}

#[test]
fn a_demo_ends_with_its_scores_unless_it_is_renewed() {
    both(|db| {
        let rivers = game(db, "rivers");
        let [renewed, over] = [(), ()].map(|()| demo(db, &rivers));
        for visitor in [&renewed, &over] {
            submit(db, &rivers.id, &visitor.id).unwrap();
        }
        let end = noon().plus_seconds(DEMO_KEPT_DAYS * 86_400);
        let planets = game(db, "planets");
        let known = {
            let id = renewed.id.clone();
            move |game: &lyceum_games::games::Game| {
                let (game, id) = (game.clone(), id.clone());
                run(db, move |tx| visitors::renew_demo(tx, end, &game, &id)).unwrap()
            }
        };
        assert_eq!(known(&planets), None);
        assert_eq!(run(db, move |tx| visitors::purge(tx, end)).unwrap(), 0);
        assert_eq!(known(&rivers).as_ref(), Some(&renewed));
        let late = end.plus_seconds(1);
        assert_eq!(run(db, move |tx| visitors::purge(tx, late)).unwrap(), 1);
        let found = |id: &str| db.read_blocking(|tx| visitors::lookup(tx, id)).unwrap();
        assert_eq!((found(&over.id), found(&renewed.id)), (None, Some(renewed.clone())));
        assert_eq!(board(db, &rivers.id, Board::Demo), [renewed.username]);
    });
}

#[test]
fn a_person_is_one_visitor_in_all_games() {
    both(|db| {
        let of_person = |name: &'static str, email: &'static str| {
            run(db, move |tx| visitors::of_person(tx, noon(), "person-1", (name, email))).unwrap()
        };
        let first = of_person("Ada Example", "ada@example.org");
        assert_eq!((first.username.as_str(), first.is_demo()), ("Ada", false));
        let renamed = of_person("", "ada@example.org");
        assert_eq!((renamed.id.as_str(), renamed.username.as_str()), (first.id.as_str(), "Guest"));
        let is_person = |person: &str| {
            db.read_blocking(|tx| visitors::is_person(tx, &first.id, person)).unwrap()
        };
        assert!(is_person("person-1") && !is_person("person-2"));
        assert_eq!(db.read_blocking(|tx| visitors::lookup(tx, "ann")).unwrap(), None);
    });
}
