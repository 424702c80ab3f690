//! Identities at an OpenID provider, the log of changes, keys and their makers.

use lyceum_access::audit::{self, AuditChange, AuditFilter, AuditOrder};
use lyceum_access::identity::{self, IdentityRule};
use lyceum_access::limits;
use lyceum_access::oidc::IdTokenClaims;
use lyceum_access::{
    NewApiKey, NewClient, NewPerson, Role, api_key, client, first_administrator, person,
};
use lyceum_core::ProblemKind;
use lyceum_core::config::Environment;
use lyceum_store::Db;
use serde_json::json;

use crate::{morning, on_both_stores, write};

const ISSUER: &str = "https://id.test";

fn invited(db: &Db, email: &str, role: Role) -> person::Person {
    let new = NewPerson { email: email.into(), name: "Somebody".into(), role, password: None };
    write(db, |tx| person::create(tx, morning(), &new))
}

/// The account that an identity opens, or why it opens none.
fn opened(
    db: &Db,
    subject: &str,
    email: Option<&str>,
    rule: &IdentityRule,
) -> Result<String, ProblemKind> {
    let claims = IdTokenClaims {
        subject: subject.into(),
        email: email.map(str::to_owned),
        name: Some("N".into()),
    };
    let opened = db.write_blocking(|tx| identity::person(tx, morning(), ISSUER, &claims, rule));
    opened.map(|person| person.email).map_err(|problem| problem.kind)
}

#[test]
fn an_identity_stays_linked_to_the_account_of_its_confirmed_address() {
    on_both_stores(|db| {
        let (closed, refused) = (IdentityRule::default(), Err(ProblemKind::Forbidden));
        assert!(!db.read_blocking(first_administrator::is_made).unwrap());
        invited(db, "ada@example.org", Role::Administrator);
        assert!(
            !db.read_blocking(first_administrator::is_made).unwrap(),
            "nobody can sign in as her yet"
        );
        assert_eq!(opened(db, "s-1", None, &closed), refused);
        assert_eq!(opened(db, "s-1", Some("eve@example.org"), &closed), refused);
        assert_eq!(opened(db, "s-1", Some("ADA@example.org"), &closed).unwrap(), "ada@example.org");
        assert!(db.read_blocking(first_administrator::is_made).unwrap());
        assert_eq!(opened(db, "s-1", Some("new@example.org"), &closed).unwrap(), "ada@example.org");
        assert_eq!(
            opened(db, "s-2", Some("ada@example.org"), &closed),
            refused,
            "the address moved"
        );

        let open = IdentityRule {
            domains: vec!["Example.org".into()],
            new_accounts: Some(Role::Developer),
        };
        assert_eq!(
            opened(db, "s-3", Some("grace@example.org"), &open).unwrap(),
            "grace@example.org"
        );
        let grace = write(db, |tx| person::require(tx, "grace@example.org"));
        assert_eq!((grace.role, grace.has_password), (Role::Developer, false));
        assert_eq!(opened(db, "s-4", Some("eve@elsewhere.test"), &open), refused);
        assert_eq!(opened(db, "s-4", Some("eve@notexample.org"), &open), refused);

        // The last administrator stays, though she has no password; others are out at once.
        let last = db.write_blocking(|tx| person::disable(tx, morning(), "ada@example.org"));
        assert_eq!(last.unwrap_err().kind, ProblemKind::Conflict);
        write(db, |tx| person::disable(tx, morning(), "grace@example.org"));
        assert_eq!(opened(db, "s-3", Some("grace@example.org"), &open), refused);
        assert_eq!(opened(db, "s-5", Some("grace@example.org"), &open), refused);
    });
}

#[test]
fn the_log_is_searched_and_paged() {
    on_both_stores(|db| {
        for number in 0..5 {
            let subject = format!("100%_{number}");
            let change =
                AuditChange { who: "Ada@example.org", what: "client.create", subject: &subject };
            write(db, |tx| change.note(tx, morning(), &json!({ "n": number })));
        }
        let list = |text: &str, oldest_first: bool, limit: i64, offset: i64| {
            let filter = AuditFilter {
                text: text.into(),
                is_ascending: oldest_first,
                ..AuditFilter::default()
            };
            let page = db.read_blocking(|tx| audit::list(tx, &filter, limit, offset)).unwrap();
            let subjects = page.entries.iter().map(|entry| entry.subject.clone());
            (subjects.collect::<Vec<_>>(), page.total)
        };
        assert_eq!(list("", false, 2, 1), (vec!["100%_3".into(), "100%_2".into()], 5));
        assert_eq!(list("CREATE", true, 1, 0), (vec!["100%_0".into()], 5));
        assert_eq!(list("%_4", false, 9, 0), (vec!["100%_4".into()], 1));
        assert_eq!(list("_%", false, 9, 0).1, 0, "no pattern but text");

        // By who, what and day; in the order of any column.
        let later = morning().plus_seconds(24 * 3600);
        let change = AuditChange { who: "bob@example.org", what: "badge.issue", subject: "7" };
        write(db, |tx| change.note(tx, later, &json!(null)));
        let fits = |filter: AuditFilter| {
            let page = db.read_blocking(|tx| audit::list(tx, &filter, 1, 0)).unwrap();
            (page.entries[0].subject.clone(), page.total)
        };
        let all = AuditFilter::default;
        assert_eq!(fits(AuditFilter { who: "bob@example.org".into(), ..all() }), ("7".into(), 1));
        assert_eq!(
            fits(AuditFilter { what: "client.create".into(), ..all() }),
            ("100%_4".into(), 5)
        );
        assert_eq!(fits(AuditFilter { from: Some(later), ..all() }), ("7".into(), 1));
        assert_eq!(fits(AuditFilter { to: Some(later), ..all() }), ("100%_4".into(), 5));
        assert_eq!(fits(AuditFilter { by: AuditOrder::Who, ..all() }), ("7".into(), 6));
        let ascending = |by| fits(AuditFilter { by, is_ascending: true, ..all() }).0;
        assert_eq!(
            (ascending(AuditOrder::Who), ascending(AuditOrder::What)),
            ("100%_4".into(), "7".into())
        );
        assert_eq!(ascending(AuditOrder::Subject), "100%_0");
        let (who, what) = db.read_blocking(audit::names).unwrap();
        assert_eq!(who, ["Ada@example.org", "bob@example.org"]);
        assert_eq!(what, ["badge.issue", "client.create"]);
        let change = AuditChange { who: "eve@example.org", what: "last", subject: "8" };
        write(db, |tx| change.note(tx, later, &json!({ "n": 4 })));
        let id =
            db.read_blocking(|tx| audit::list(tx, &AuditFilter::default(), 1, 0)).unwrap().entries
                [0]
            .id;
        let entry = db.read_blocking(|tx| audit::find(tx, id)).unwrap().unwrap();
        assert_eq!((entry.at, &entry.details), (later, &json!({ "n": 4 })));
        assert_eq!(db.read_blocking(|tx| audit::find(tx, id + 1)).unwrap(), None);
    });
}

#[test]
fn keys_are_rotated_and_end_with_the_account_of_their_creator() {
    on_both_stores(|db| {
        let ada = invited(db, "ada@example.org", Role::Developer);
        let new = NewApiKey {
            name: "ci".into(),
            role: Role::Developer,
            project: None,
            maker: Some(ada.id.clone()),
        };
        let (key, first) =
            write(db, |tx| api_key::create(tx, morning(), Environment::Staging, &new));
        let (_, second) = write(db, |tx| api_key::rotate(tx, &key.id));
        assert_ne!(first, second);
        write(db, |tx| person::disable(tx, morning(), "ada@example.org"));
        let keys = db.read_blocking(api_key::list).unwrap();
        assert_eq!((keys[0].revoked, &keys[0].maker), (Some(morning()), &Some(ada.id)));
        let again = db.write_blocking(|tx| api_key::rotate(tx, &key.id));
        assert_eq!(again.unwrap_err().kind, ProblemKind::NotFound);
    });
}

#[test]
fn the_last_use_of_a_client_is_recorded() {
    on_both_stores(|db| {
        let new = NewClient::named("reports");
        let (client, _) = write(db, |tx| client::create(tx, morning(), &new));
        let stale = |seconds: i64| {
            let now = morning().plus_seconds(seconds);
            db.read_blocking(|tx| client::is_stale(tx, now, &client.id)).unwrap()
        };
        assert!(stale(0));
        write(db, |tx| client::touch(tx, morning(), &client.id));
        write(db, |tx| client::touch(tx, morning().plus_seconds(-1), &client.id));
        assert_eq!(db.read_blocking(client::uses).unwrap()[&client.id], morning());
        assert!(!stale(limits::LAST_USE_RESOLUTION_S - 1) && stale(limits::LAST_USE_RESOLUTION_S));
    });
}

#[test]
fn a_student_links_only_an_identity_of_an_admitted_domain() {
    on_both_stores(|db| {
        let ann = crate::students::student(db, "ann");
        let school = IdentityRule { domains: vec!["school.test".into()], new_accounts: None };
        let link = |email: Option<&str>, rule: &IdentityRule| {
            let claims = IdTokenClaims {
                subject: "s-1".into(),
                email: email.map(str::to_owned),
                name: None,
            };
            db.write_blocking(|tx| identity::link_own(tx, morning(), (ISSUER, &claims), rule, &ann))
                .map_err(|problem| problem.kind)
        };
        for email in [Some("ann@home.test"), Some("ann@xschool.test"), None] {
            assert_eq!(link(email, &school), Err(ProblemKind::Forbidden), "{email:?}");
        }
        let linked =
            |db: &Db| db.read_blocking(|tx| identity::of_account(tx, &ann.id)).unwrap().len();
        assert_eq!(linked(db), 0);
        link(Some("ann@SCHOOL.test"), &school).unwrap();
        link(None, &IdentityRule::default()).unwrap();
        assert_eq!(linked(db), 1);
    });
}
