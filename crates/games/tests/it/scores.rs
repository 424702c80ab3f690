//! Leader boards, and what a score may be.

use lyceum_core::time::Timestamp;
use lyceum_core::{ProblemKind, Reach, Result};
use lyceum_games::PageRequest;
use lyceum_games::limits::SCORE_MAX_COUNT;
use lyceum_games::scores::{self, Board, GameScore, NewGameScore, Timeframe};
use lyceum_games::visible_games::VisibleGames;
use lyceum_store::Db;
use lyceum_testkit::records;
use serde_json::{Value, json};

use crate::{ALL, at, body, both, noon, paths, run};

fn send(db: &Db, now: Timestamp, user: &'static str, score: Value) -> Result<GameScore> {
    let new: NewGameScore = body(score);
    run(db, move |tx| scores::submit(tx, now, "rivers", user, new.clone()))
}

fn submit(db: &Db, now: Timestamp, user: &'static str, score: f64) {
    send(db, now, user, json!({ "score": score })).unwrap();
}

/// Rank, player and score of each line.
fn lines(
    db: &Db,
    now: Timestamp,
    timeframe: Timeframe,
    page: PageRequest,
) -> Vec<(i64, String, f64)> {
    let board = ("rivers", Board::Players);
    let read = |tx: &mut lyceum_store::Tx<'_>| {
        scores::leaderboard(tx, now, board, timeframe, page, &Reach::Everything)
    };
    let lines = db.read_blocking(read);
    lines.unwrap().into_iter().map(|line| (line.rank, line.user_id, line.score)).collect()
}

fn expected(lines: &[(i64, &str, f64)]) -> Vec<(i64, String, f64)> {
    lines.iter().map(|(rank, user, score)| (*rank, (*user).to_owned(), *score)).collect()
}

#[test]
fn the_earlier_of_equal_scores_ranks_higher() {
    both(|db| {
        // All at the same instant: the order of arrival decides.
        for (user, score) in
            [("cleo", 50.0), ("ann", 50.0), ("bob", 50.5), ("ann", 50.0), ("cleo", 49.0)]
        {
            submit(db, noon(), user, score);
        }
        let all = [(1, "bob", 50.5), (2, "cleo", 50.0), (3, "ann", 50.0)];
        assert_eq!(lines(db, noon(), Timeframe::AllTime, ALL), expected(&all));
        // A player who repeats the best score keeps its place; a better one takes a new place.
        submit(db, noon(), "cleo", 50.0);
        submit(db, noon(), "ann", 50.5);
        let all = [(1, "bob", 50.5), (2, "ann", 50.5), (3, "cleo", 50.0)];
        assert_eq!(lines(db, noon(), Timeframe::AllTime, ALL), expected(&all));
        let page = PageRequest { limit: 1, offset: 1 };
        assert_eq!(lines(db, noon(), Timeframe::AllTime, page), expected(&all[1..2]));
    });
}

#[test]
fn a_board_counts_the_scores_of_its_own_period() {
    both(|db| {
        let sunday = at("2026-11-01T23:59:59.999Z");
        let monday = at("2026-11-02T00:00:00Z");
        submit(db, sunday, "bob", -5.0);
        submit(db, monday, "bob", -7.0);
        let board = |now, timeframe| lines(db, now, timeframe, ALL);
        for timeframe in [Timeframe::Daily, Timeframe::Weekly] {
            assert_eq!(board(sunday, timeframe), expected(&[(1, "bob", -5.0)]));
            assert_eq!(board(monday, timeframe), expected(&[(1, "bob", -7.0)]));
        }
        for timeframe in [Timeframe::Monthly, Timeframe::AllTime] {
            assert_eq!(board(monday, timeframe), expected(&[(1, "bob", -5.0)]));
        }
        let december = at("2026-12-01T00:00:00Z");
        assert_eq!(board(december, Timeframe::Monthly), expected(&[]));
        // A week may lie in two years: Friday, the first of January, is in the last week of 2026.
        let (december, january) = (at("2026-12-31T12:00:00Z"), at("2027-01-01T12:00:00Z"));
        submit(db, december, "ann", 1.0);
        assert_eq!(board(january, Timeframe::Weekly), expected(&[(1, "ann", 1.0)]));
        assert_eq!(board(january, Timeframe::Monthly), expected(&[]));
        assert_eq!(Timeframe::of("yearly").map(drop).unwrap_err().kind, ProblemKind::Invalid);
    });
}

#[test]
fn lines_name_players_and_scores_are_listed_newest_first() {
    both(|db| {
        records::school(db, "s", "School");
        records::student(db, "ann", "s", "3");
        submit(db, noon(), "ann", 1.0);
        submit(db, noon(), "ann", 0.5);
        submit(db, noon(), "gone", 0.0);
        let board = ("rivers", Board::Players);
        let all = |tx: &mut lyceum_store::Tx<'_>| {
            scores::leaderboard(tx, noon(), board, Timeframe::AllTime, ALL, &Reach::Everything)
        };
        let names: Vec<String> =
            db.read_blocking(all).unwrap().into_iter().map(|line| line.username).collect();
        assert_eq!(names, ["ann", ""]);
        let of_ann = |games: VisibleGames| -> Vec<f64> {
            let found = db.read_blocking(|tx| scores::of_user(tx, &games, "ann", ALL)).unwrap();
            found.into_iter().map(|score| score.score).collect()
        };
        assert_eq!(of_ann(VisibleGames::Every), [0.5, 1.0]);
        assert_eq!(of_ann(VisibleGames::Only(vec!["rivers".into()])), [0.5, 1.0]);
        assert_eq!(of_ann(VisibleGames::Only(vec!["planets".into()])), [0.0; 0]);
    });
}

#[test]
fn a_score_that_contradicts_itself_is_refused() {
    both(|db| {
        let most = SCORE_MAX_COUNT;
        for (score, path) in [
            (json!({ "score": most + 2 }), "score"),
            (json!({ "score": -most - 2 }), "score"),
            (json!({ "score": 1, "correctQuestions": 3, "totalQuestions": 2 }), "correctQuestions"),
            (
                json!({ "score": 1, "metadata": { "correctQuestions": 3, "totalQuestions": 2.5 } }),
                "metadata.correctQuestions",
            ),
            (json!({ "score": 1, "metadata": { "a": "x".repeat(16 * 1024) } }), "metadata"),
        ] {
            let refused = send(db, noon(), "ann", score.clone()).map(drop).unwrap_err();
            assert_eq!(
                (refused.kind, paths(&refused)),
                (ProblemKind::Invalid, vec![path]),
                "{score}"
            );
        }
        for score in [json!(most), json!(-most), json!(0.1)] {
            let score = json!({ "score": score, "correctQuestions": 2, "totalQuestions": 2 });
            send(db, noon(), "ann", score).unwrap();
        }
    });
}
