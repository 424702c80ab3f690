//! Users' agents and their credentials for other systems.

use lyceum_core::{ProblemKind, Reach, body};
use lyceum_roster::credentials::{self, Login};
use lyceum_roster::kinds::USER;
use lyceum_roster::repository::{self, WriteOutcome};
use lyceum_roster::{agents, write};
use lyceum_store::Db;
use serde_json::json;

use crate::kit::{both, collection, create, rules};

fn people(db: &Db) {
    create(db, "orgs", json!({"sourcedId": "s", "name": "S", "type": "school"}));
    for id in ["ann", "eve"] {
        create(
            db,
            "users",
            json!({"sourcedId": id, "enabledUser": true, "givenName": id, "familyName": "X",
                "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}]}),
        );
    }
}

#[test]
fn adding_an_existing_agent_changes_nothing() {
    both(|db| {
        people(db);
        let now = rules().now;
        let add = |user: &str, agent: &str| {
            db.write_blocking(|tx| agents::add(tx, user, agent, now, &Reach::Everything))
        };
        assert_eq!(add("ann", "eve").unwrap().outcome, WriteOutcome::Updated);
        assert_eq!(add("ann", "eve").unwrap().outcome, WriteOutcome::Unchanged);
        assert_eq!(add("none", "eve").unwrap_err().kind, ProblemKind::NotFound);
        for wrong in ["none", "ann"] {
            let problem = add("ann", wrong).unwrap_err();
            assert_eq!(problem.details[0].path, "agentSourcedId", "{problem}");
        }
        let remove = |agent: &str| {
            db.write_blocking(|tx| agents::remove(tx, "ann", agent, now, &Reach::Everything))
        };
        assert_eq!(remove("ann").unwrap_err().kind, ProblemKind::NotFound);
        remove("eve").unwrap();
        assert_eq!(remove("eve").unwrap_err().kind, ProblemKind::NotFound);
    });
}

#[test]
fn the_password_of_a_purged_user_is_deleted() {
    both(|db| {
        people(db);
        let now = rules().now;
        let body =
            json!({"applicationName": "A", "credentials": {"username": "u", "password": "p"}});
        let login = Login::of(body::of(body).unwrap()).unwrap();
        let register = |user: &str| {
            db.write_blocking(|tx| {
                credentials::register(tx, user, &login, b"sealed", now, &Reach::Everything)
            })
            .unwrap()
        };
        let sealed = |user: &str, id: &str| {
            db.read_blocking(|tx| Ok(credentials::find(tx, user, id, &Reach::Everything)?.sealed))
        };
        let (ann, eve) = (register("ann"), register("eve"));
        assert_ne!(ann.credential_id, eve.credential_id);
        assert_eq!(sealed("ann", &ann.credential_id).unwrap(), b"sealed");
        assert!(sealed("eve", &ann.credential_id).is_err(), "another user's");
        db.write_blocking(|tx| {
            write::delete(tx, collection("users"), "ann", now, false, None, &Reach::Everything)
        })
        .unwrap();
        let later = now.plus_seconds(1);
        let (purged, _) =
            db.write_blocking(|tx| repository::purge(tx, &USER, (later, later), 0, 100)).unwrap();
        assert_eq!(purged.removed, 1);
        let gone = sealed("ann", &ann.credential_id).unwrap_err();
        assert_eq!(gone.kind, ProblemKind::NotFound);
        assert!(sealed("eve", &eve.credential_id).is_ok());
    });
}
