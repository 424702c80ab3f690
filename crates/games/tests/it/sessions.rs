//! Play sessions begin and end once.

use lyceum_core::ProblemKind;
use lyceum_games::sessions;

use crate::{ALL, at, both, noon, run};

#[test]
fn a_session_ends_once() {
    both(|db| {
        let begun = run(db, |tx| sessions::start(tx, noon(), "rivers", "ann")).unwrap();
        assert_eq!((begun.ended_at, begun.duration_seconds), (None, None));
        let end = |now, game: &'static str, user: &'static str| {
            let id = begun.session_id.clone();
            run(db, move |tx| sessions::end(tx, now, game, user, &id))
        };
        for (game, user) in [("rivers", "bob"), ("planets", "ann")] {
            let refused = end(noon(), game, user).map(drop).unwrap_err();
            assert_eq!(refused.kind, ProblemKind::NotFound);
        }
        let later = at("2026-11-02T12:01:30Z");
        for now in [later, at("2026-11-03T12:00:00Z")] {
            let ended = end(now, "rivers", "ann").unwrap();
            assert_eq!((ended.ended_at, ended.duration_seconds), (Some(later), Some(90)));
        }
        let second = run(db, |tx| sessions::start(tx, noon(), "rivers", "ann")).unwrap();
        let listed = db.read_blocking(|tx| sessions::of_user(tx, "rivers", "ann", ALL)).unwrap();
        let listed: Vec<&str> = listed.iter().map(|one| one.session_id.as_str()).collect();
        assert_eq!(listed, [&second.session_id, &begun.session_id], "the newest first");
    });
}
