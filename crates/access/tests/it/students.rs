//! Accounts of students, and their sessions.

use lyceum_access::account::{self, AccountFilter};
use lyceum_access::holder;
use lyceum_access::session::{self, SessionKind};
use lyceum_access::student::{self, NewStudent};
use lyceum_access::{
    NewApiKey, NewPerson, Person, Role, StudentSession, TokenHolder, api_key, person,
};
use lyceum_core::config::Environment;
use lyceum_core::{ProblemKind, Reach};
use lyceum_store::Db;

use crate::{morning, on_both_stores, write};

pub(crate) const STAGING: Environment = Environment::Staging;

pub(crate) fn new_student(user: &str, email: Option<&str>) -> NewStudent {
    NewStudent {
        roster_user: user.to_owned(),
        name: format!("Student {user}"),
        email: email.map(str::to_owned),
        password: None,
    }
}

pub(crate) fn student(db: &Db, user: &str) -> Person {
    write(db, |tx| student::create(tx, morning(), &new_student(user, None)))
}

#[test]
fn a_student_needs_no_address_and_a_user_of_the_roster_has_one_active_account() {
    on_both_stores(|db| {
        let ann = student(db, "ann");
        assert_eq!((ann.email.as_str(), ann.account_name()), ("", ann.id.as_str()));
        let bob = student(db, "bob");
        assert_eq!(bob.email, "", "two accounts without an address");
        assert_eq!(write(db, |tx| person::require(tx, &ann.id)), ann);
        assert_eq!(write(db, |tx| student::of_user(tx, "ann")), Some(ann.clone()));

        let again =
            db.write_blocking(|tx| student::create(tx, morning(), &new_student("ann", None)));
        let again = again.unwrap_err();
        assert_eq!(again.kind, ProblemKind::Conflict);
        assert!(again.message.contains(&ann.id), "{}", again.message);

        write(db, |tx| person::disable(tx, morning(), &ann.id));
        assert_eq!(write(db, |tx| student::of_user(tx, "ann")), None);
        let second = student(db, "ann");
        assert_ne!(second.id, ann.id);
        assert_eq!(write(db, |tx| person::of_roster_user(tx, "ann")).len(), 2);
    });
}

#[test]
fn an_address_belongs_to_one_account_whatever_its_role() {
    on_both_stores(|db| {
        let new = NewPerson {
            email: "eve@example.org".to_owned(),
            name: "Eve".to_owned(),
            role: Role::Guide,
            password: None,
        };
        write(db, |tx| person::create(tx, morning(), &new));
        let taken = new_student("eve", Some("EVE@example.org"));
        let taken = db.write_blocking(|tx| student::create(tx, morning(), &taken)).unwrap_err();
        assert_eq!(taken.kind, ProblemKind::Conflict);
        for wrong in ["", "nobody"] {
            let wrong = new_student("fay", Some(wrong));
            let refused = db.write_blocking(|tx| student::create(tx, morning(), &wrong));
            assert_eq!(refused.unwrap_err().kind, ProblemKind::Invalid);
        }
    });
}

#[test]
fn a_student_has_browser_sessions_but_no_keys_or_device_codes() {
    on_both_stores(|db| {
        let ann = student(db, "ann");
        let text =
            write(db, |tx| session::start(tx, morning(), STAGING, &ann, SessionKind::Page, None));
        let of_session = |text: &str, sort| {
            db.read_blocking(|tx| holder::of_session(tx, morning(), STAGING, text, sort)).unwrap()
        };
        let (holder, _) = of_session(&text, SessionKind::Page).unwrap();
        let TokenHolder::Student(signed_in) = holder else { panic!("{holder:?}") };
        assert_eq!((signed_in.user.as_str(), signed_in.session), ("ann", StudentSession::Own));
        let key = NewApiKey { name: "k".into(), role: Role::Student, project: None, maker: None };
        let refused = db.write_blocking(|tx| api_key::create(tx, morning(), STAGING, &key));
        assert_eq!(refused.unwrap_err().kind, ProblemKind::Invalid);
        let reach = Reach::organizations(["s"]).unwrap();
        let refused = db.write_blocking(|tx| person::limit(tx, &ann.id, &reach));
        assert_eq!(refused.unwrap_err().kind, ProblemKind::Invalid);
        let new = NewPerson {
            email: "x@example.org".to_owned(),
            name: "X".to_owned(),
            role: Role::Student,
            password: None,
        };
        let refused = db.write_blocking(|tx| person::create(tx, morning(), &new));
        assert_eq!(refused.unwrap_err().kind, ProblemKind::Invalid, "a student without a user");

        write(db, |tx| person::disable(tx, morning(), &ann.id));
        assert!(of_session(&text, SessionKind::Page).is_err());
    });
}

#[test]
fn a_list_is_filtered_by_text_in_any_case_and_without_wildcards() {
    on_both_stores(|db| {
        for (user, name) in [("a_1", "Élodie Öz"), ("ab1", "Ben 100%"), ("c", "Cem")] {
            let new = NewStudent { name: name.to_owned(), ..new_student(user, None) };
            write(db, |tx| student::create(tx, morning(), &new));
        }
        let found = |text: &str| {
            let filter = AccountFilter { role: Some(Role::Student), text: text.to_owned() };
            let page = db.read_blocking(|tx| account::page(tx, &filter, (10, 0))).unwrap();
            assert_eq!(page.total, i64::try_from(page.accounts.len()).unwrap());
            let users = page.accounts.into_iter().filter_map(|one| one.roster_user);
            users.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        };
        for (text, users) in [
            ("élodie", vec!["a_1"]),
            ("ÖZ", vec!["a_1"]),
            ("A_1", vec!["a_1"]),
            ("0%", vec!["ab1"]),
            ("%", vec!["ab1"]),
            ("x", vec![]),
            ("e", vec!["a_1", "ab1", "c"]),
        ] {
            assert_eq!(found(text), users, "{text}");
        }
        let filter = AccountFilter { role: None, text: "E".to_owned() };
        let page = db.read_blocking(|tx| account::page(tx, &filter, (1, 1))).unwrap();
        assert_eq!((page.total, page.accounts.len()), (3, 1));
    });
}
