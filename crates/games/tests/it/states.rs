//! A game saves a player's state over the version that it has seen.

use lyceum_core::{ProblemKind, Result};
use lyceum_games::limits::GAME_STATE_MAX_BYTES;
use lyceum_games::states::{self, CheckedGameState, NewGameState, SavedGameState};
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::{body, both, noon, paths, run};

fn save(db: &Db, user: &'static str, sent: Value) -> Result<SavedGameState> {
    let new = CheckedGameState::try_from(body::<NewGameState>(sent))?;
    run(db, move |tx| states::save(tx, noon(), "rivers", user, &new))
}

#[test]
fn a_save_that_has_not_seen_the_latest_version_is_refused() {
    both(|db| {
        let load = |user: &str| {
            let state = db.read_blocking(|tx| states::load(tx, "rivers", user)).unwrap();
            (state.state.get().to_owned(), state.version)
        };
        assert_eq!(load("ann"), ("null".to_owned(), 0));
        assert_eq!(save(db, "ann", json!({ "state": 1, "version": 0 })).unwrap().version, 1);
        assert_eq!(save(db, "ann", json!({ "state": [2], "version": 1 })).unwrap().version, 2);
        for seen in [0, 1, 3] {
            let sent = json!({ "state": {}, "version": seen });
            let refused = save(db, "ann", sent).map(drop).unwrap_err();
            assert_eq!((refused.kind, paths(&refused)), (ProblemKind::Conflict, vec!["version"]));
            assert!(refused.message.contains("the saved version is 2"), "{refused}");
        }
        assert_eq!(load("ann"), ("[2]".to_owned(), 2));
        assert_eq!(save(db, "ann", json!({ "state": null })).unwrap().version, 3);
        let first = json!({ "state": {}, "version": 1 });
        assert_eq!(save(db, "bob", first).map(drop).unwrap_err().kind, ProblemKind::Conflict);
        assert_eq!(load("bob"), ("null".to_owned(), 0));
    });
}

#[test]
fn a_state_has_a_limit() {
    both(|db| {
        let text = |bytes: usize| json!({ "state": "x".repeat(bytes - 2) });
        save(db, "ann", text(GAME_STATE_MAX_BYTES)).unwrap();
        let refused = save(db, "ann", text(GAME_STATE_MAX_BYTES + 1)).map(drop).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::TooLarge);
    });
}
