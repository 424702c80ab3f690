//! A request with a key is carried out once for each caller, player, game and route.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_games::idempotency::{KeyOwner, KeyedRequest, RequestSender};
use lyceum_games::inventory::{self, CREDITS};
use lyceum_games::limits::{REQUEST_KEPT_DAYS, REQUEST_KEY_MAX_CHARS};
use lyceum_games::visible_games::VisibleGames;
use lyceum_store::Db;

use crate::{both, noon, run};

const ANN: RequestSender<'_> = RequestSender {
    caller: None,
    player: Some("ann"),
    game: Some("rivers"),
    method: "POST",
    route: "/api/inventory/add",
};

fn once(key: &str, body: &str) -> KeyedRequest {
    KeyedRequest::of(key, "POST", "/api/inventory/add", body.as_bytes()).unwrap()
}

/// Adds a credit under a key. The answer is the number of credits then.
fn add(db: &Db, now: Timestamp, sender: &RequestSender<'_>, once: &KeyedRequest) -> Result<String> {
    let (owner, once) = (KeyOwner::of(sender), once.clone());
    run(db, move |tx| {
        once.run(tx, now, &owner, |tx| {
            inventory::credit(tx, now, "ann", 1)?;
            let held = inventory::of_user(tx, &VisibleGames::Every, "ann")?;
            assert_eq!(held[0].item.slug, CREDITS);
            Ok(held[0].quantity.to_string())
        })
    })
}

#[test]
fn a_repeated_request_is_answered_as_before() {
    both(|db| {
        let first = once("k", "{}");
        for _ in 0..3 {
            assert_eq!(add(db, noon(), &ANN, &first).unwrap(), "1");
        }
        let other = add(db, noon(), &ANN, &once("k", "{ }"));
        assert_eq!(other.unwrap_err().kind, ProblemKind::Conflict);
        assert_eq!(add(db, noon(), &ANN, &once("l", "{}")).unwrap(), "2");
    });
}

#[test]
fn a_key_belongs_to_one_caller_player_game_and_route() {
    both(|db| {
        let senders = [
            ANN,
            RequestSender { caller: Some("c"), ..ANN },
            RequestSender { player: Some("bob"), ..ANN },
            RequestSender { player: None, ..ANN },
            RequestSender { game: Some("planets"), ..ANN },
            RequestSender { game: None, ..ANN },
            RequestSender { route: "/api/games/{game}/scores", ..ANN },
        ];
        let (request, mut names) = (once("k", "{}"), Vec::new());
        for round in 0..2 {
            for (number, sender) in (1..).zip(&senders) {
                let answer = add(db, noon(), sender, &request).unwrap();
                assert_eq!(answer, number.to_string(), "round {round}, {sender:?}");
                names.push(request.name(&KeyOwner::of(sender)));
            }
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), senders.len());
    });
}

#[test]
fn a_refused_request_leaves_its_key_free() {
    both(|db| {
        let (owner, request) = (KeyOwner::of(&ANN), once("k", "{}"));
        let failed: Result<String> = run(db, move |tx| {
            request.run(tx, noon(), &owner, |_| Err(Problem::invalid("qty", "is too large")))
        });
        assert_eq!(failed.unwrap_err().kind, ProblemKind::Invalid);
        assert_eq!(add(db, noon(), &ANN, &once("k", "{ }")).unwrap(), "1");
    });
}

#[test]
fn an_idempotency_key_is_free_again_when_it_expires() {
    both(|db| {
        let request = once("k", "{}");
        assert_eq!(add(db, noon(), &ANN, &request).unwrap(), "1");
        let end = noon().plus_seconds(REQUEST_KEPT_DAYS * 86_400);
        assert_eq!(add(db, end, &ANN, &request).unwrap(), "1");
        assert_eq!(add(db, end.plus_seconds(1), &ANN, &request).unwrap(), "2");
    });
}

#[test]
fn an_idempotency_key_has_a_maximum_length() {
    let key_of = |bytes: usize| KeyedRequest::of(&"k".repeat(bytes), "POST", "/", b"").map(drop);
    key_of(REQUEST_KEY_MAX_CHARS).unwrap();
    for bytes in [0, REQUEST_KEY_MAX_CHARS + 1] {
        assert_eq!(key_of(bytes).unwrap_err().kind, ProblemKind::Invalid);
    }
}
