//! Accounts, sessions, keys, device codes and the limits on guessing.

use lyceum_access::device::{self, TokenRefusal};
use lyceum_access::holder::{self, TokenRejection};
use lyceum_access::limits;
use lyceum_access::session::{self, SessionKind};
use lyceum_access::{
    ApiKey, NewApiKey, NewPerson, Person, Role, Scope, TokenHolder, api_key, guess, password,
    person,
};
use lyceum_core::ProblemKind;
use lyceum_core::config::Environment;
use lyceum_core::time::Timestamp;
use lyceum_store::{Db, Tx};

use crate::{morning, on_both_stores, write};

const STAGING: Environment = Environment::Staging;

fn create_person(db: &Db, email: &str, role: Role) -> Person {
    let new = NewPerson {
        email: email.to_owned(),
        name: "Somebody".to_owned(),
        role,
        password: Some(password::hash("correct horse")),
    };
    write(db, |tx| person::create(tx, morning(), &new))
}

fn key(db: &Db, name: &str, project: Option<&str>) -> (ApiKey, String) {
    let project = project.map(str::to_owned);
    let new = NewApiKey { name: name.to_owned(), role: Role::Developer, project, maker: None };
    write(db, |tx| api_key::create(tx, morning(), STAGING, &new))
}

fn begin(db: &Db, person: &Person, sort: SessionKind, former: Option<&str>) -> String {
    write(db, |tx| session::start(tx, morning(), STAGING, person, sort, former))
}

/// The owner of the session.
fn owner(db: &Db, now: Timestamp, text: &str, sort: SessionKind) -> Result<String, TokenRejection> {
    let found = db.read_blocking(|tx| holder::of_session(tx, now, STAGING, text, sort)).unwrap();
    found.map(|(holder, _)| holder.id().to_owned())
}

fn bearer(db: &Db, environment: Environment, text: &str) -> Result<TokenHolder, TokenRejection> {
    let found = db.read_blocking(|tx| holder::of_bearer(tx, morning(), environment, text)).unwrap();
    found.map(|(holder, _)| holder)
}

#[test]
fn an_account_is_created_once_for_all_spellings_of_its_address() {
    on_both_stores(|db| {
        assert!(!db.read_blocking(person::has_sign_in).unwrap());
        let ada = create_person(db, " Ada@Example.ORG ", Role::Administrator);
        assert_eq!((ada.email.as_str(), ada.has_password), ("ada@example.org", true));
        assert!(db.read_blocking(person::has_sign_in).unwrap());
        assert_eq!(write(db, |tx| person::by_email(tx, "ADA@example.org")), Some(ada.clone()));
        assert_eq!(db.read_blocking(person::list).unwrap(), std::slice::from_ref(&ada));
        let new = NewPerson {
            email: "ada@EXAMPLE.org".into(),
            name: "Ada".into(),
            role: Role::Guide,
            password: None,
        };
        let again = db.write_blocking(|tx| person::create(tx, morning(), &new)).unwrap_err();
        assert_eq!(again.kind, ProblemKind::Conflict);
        for wrong in ["ada", "@example.org", "ada@", "a da@example.org", ""] {
            let new = NewPerson { email: wrong.into(), ..new.clone() };
            let refused = db.write_blocking(|tx| person::create(tx, morning(), &new)).unwrap_err();
            assert_eq!(refused.details[0].path, "email", "{wrong}");
        }
        let stored = db.read_blocking(|tx| person::password(tx, &ada.id)).unwrap();
        assert!(password::is_right("correct horse", stored.as_deref()));
    });
}

#[test]
fn a_session_ends_by_age_idleness_sign_out_and_the_next_sign_in() {
    on_both_stores(|db| {
        let ada = create_person(db, "ada@example.org", Role::Developer);
        for sort in [SessionKind::Page, SessionKind::Token] {
            let text = begin(db, &ada, sort, None);
            let at = |seconds| owner(db, morning().plus_seconds(seconds), &text, sort);
            assert_eq!(at(0).as_deref(), Ok(ada.id.as_str()));
            assert_eq!(at(sort.idle_s() - 1).as_deref(), Ok(ada.id.as_str()));
            assert_eq!(at(sort.idle_s()), Err(TokenRejection::Ended));
            // A session that is used lasts longer, but not for ever.
            let mut used = 0;
            while used + sort.idle_s() < sort.lifetime_s() {
                used += sort.idle_s() - 1;
                write(db, |tx| holder::touch(tx, morning().plus_seconds(used), &text));
            }
            assert_eq!(at(sort.lifetime_s() - 1).as_deref(), Ok(ada.id.as_str()));
            assert_eq!(at(sort.lifetime_s()), Err(TokenRejection::Ended));
        }
        let first = begin(db, &ada, SessionKind::Page, None);
        let second = begin(db, &ada, SessionKind::Page, Some(&first));
        assert_eq!(owner(db, morning(), &first, SessionKind::Page), Err(TokenRejection::Unknown));
        assert_eq!(
            owner(db, morning(), &second, SessionKind::Token),
            Err(TokenRejection::Unknown),
            "another sort"
        );
        write(db, |tx| session::end(tx, &second));
        assert_eq!(owner(db, morning(), &second, SessionKind::Page), Err(TokenRejection::Unknown));
    });
}

#[test]
fn disabling_ends_everything_and_the_last_administrator_stays() {
    on_both_stores(|db| {
        create_person(db, "ada@example.org", Role::Administrator);
        let grace = create_person(db, "grace@example.org", Role::Developer);
        let token = begin(db, &grace, SessionKind::Token, None);
        let link = write(db, |tx| person::new_link(tx, morning(), &grace));
        assert!(bearer(db, STAGING, &token).is_ok());
        write(db, |tx| person::disable(tx, morning(), "Grace@example.org"));
        assert_eq!(bearer(db, STAGING, &token), Err(TokenRejection::Unknown));
        assert_eq!(write(db, |tx| person::of_link(tx, morning(), &link)), None);
        assert_eq!(db.read_blocking(|tx| person::password(tx, &grace.id)).unwrap(), None);
        let refused = db.write_blocking(|tx| person::disable(tx, morning(), "ada@example.org"));
        assert_eq!(refused.unwrap_err().kind, ProblemKind::Conflict);
    });
}

#[test]
fn a_link_sets_a_password_once_before_it_expires() {
    on_both_stores(|db| {
        let ada = create_person(db, "ada@example.org", Role::Developer);
        let session = begin(db, &ada, SessionKind::Page, None);
        let stale = write(db, |tx| person::new_link(tx, morning(), &ada));
        let link = write(db, |tx| person::new_link(tx, morning(), &ada));
        let late = morning().plus_seconds(limits::SIGN_IN_LINK_LIFETIME_S);
        let hash = password::hash("another horse");
        for (now, link) in [(morning(), stale.as_str()), (late, &link), (morning(), "no link")] {
            let refused = db.write_blocking(|tx| person::use_link(tx, now, link, &hash));
            assert_eq!(refused.unwrap_err().kind, ProblemKind::NotFound);
        }
        assert!(owner(db, morning(), &session, SessionKind::Page).is_ok());
        let owner_of_link = write(db, |tx| person::use_link(tx, morning(), &link, &hash));
        assert_eq!(owner_of_link, ada);
        assert!(owner(db, morning(), &session, SessionKind::Page).is_err(), "sessions end");
        let again = db.write_blocking(|tx| person::use_link(tx, morning(), &link, &hash));
        assert_eq!(again.unwrap_err().kind, ProblemKind::NotFound);
        assert_eq!(db.read_blocking(|tx| person::password(tx, &ada.id)).unwrap(), Some(hash));
    });
}

#[test]
fn an_entry_link_signs_in_once_before_it_expires_and_sets_no_password() {
    on_both_stores(|db| {
        let ada = create_person(db, "ada@example.org", Role::Administrator);
        let lifetime = limits::DEMO_LINK_LIFETIME_S;
        let link = || write(db, |tx| person::new_entry_link(tx, morning(), &ada, lifetime));
        let (stale, link) = (link(), link());
        let late = morning().plus_seconds(lifetime);
        for (now, link) in [(morning(), stale.as_str()), (late, &link), (morning(), "le_none")] {
            let refused = db.write_blocking(|tx| person::enter(tx, now, link));
            assert_eq!(refused.unwrap_err().kind, ProblemKind::NotFound);
        }
        let hash = password::hash("another horse");
        let refused = db.write_blocking(|tx| person::use_link(tx, morning(), &link, &hash));
        assert_eq!(refused.unwrap_err().kind, ProblemKind::NotFound);
        let soon = late.plus_seconds(-1);
        assert_eq!(write(db, |tx| person::enter(tx, soon, &link)), ada);
        let again = db.write_blocking(|tx| person::enter(tx, soon, &link));
        assert_eq!(again.unwrap_err().kind, ProblemKind::NotFound);
        // A link that sets a password does not sign anyone in.
        let link = write(db, |tx| person::new_link(tx, morning(), &ada));
        let refused = db.write_blocking(|tx| person::enter(tx, morning(), &link));
        assert_eq!(refused.unwrap_err().kind, ProblemKind::NotFound);
    });
}

#[test]
fn a_key_opens_its_environment_until_it_is_revoked() {
    on_both_stores(|db| {
        let (created, text) = key(db, "ci", None);
        // 256 bits in base64url behind the prefix.
        assert_eq!((text.len(), &text[..3]), (46, "lk_"));
        assert_eq!(bearer(db, STAGING, &text), Ok(TokenHolder::Key(created.clone())));
        assert_eq!(
            bearer(db, Environment::Production, &text),
            Err(TokenRejection::OtherEnvironment)
        );
        assert_eq!(bearer(db, STAGING, "lk_other"), Err(TokenRejection::UnknownKey));
        write(db, |tx| holder::touch(tx, morning().plus_seconds(61), &text));
        let used = db.read_blocking(api_key::list).unwrap()[0].used;
        assert_eq!(used, Some(morning().plus_seconds(61)));
        let new = NewApiKey { name: "ci".into(), role: Role::Guide, project: None, maker: None };
        let taken = db.write_blocking(|tx| api_key::create(tx, morning(), STAGING, &new));
        assert_eq!(taken.unwrap_err().kind, ProblemKind::Conflict);
        write(db, |tx| api_key::revoke(tx, morning(), "ci"));
        assert_eq!(bearer(db, STAGING, &text), Err(TokenRejection::Revoked));
        let again = db.write_blocking(|tx| api_key::revoke(tx, morning(), "ci"));
        assert_eq!(again.unwrap_err().kind, ProblemKind::NotFound);
        assert!(db.write_blocking(|tx| api_key::create(tx, morning(), STAGING, &new)).is_ok());
    });
}

#[test]
fn only_administrators_and_members_may_change_a_project() {
    on_both_stores(|db| {
        let may = |who: &TokenHolder, project: &str| {
            db.read_blocking(|tx| who.may_change(tx, project)).unwrap()
        };
        let admin = TokenHolder::Person(create_person(db, "ada@example.org", Role::Administrator));
        let developer = create_person(db, "grace@example.org", Role::Developer);
        let grace = TokenHolder::Person(developer.clone());
        assert!(may(&admin, "fractions") && !may(&grace, "fractions"));
        for _ in 0..2 {
            write(db, |tx| lyceum_access::join(tx, "fractions", &developer.id));
        }
        assert!(may(&grace, "fractions") && !may(&grace, "letters"));
        write(db, |tx| lyceum_access::leave(tx, "fractions", &developer.id));
        assert!(!may(&grace, "fractions"));
        let everywhere = TokenHolder::Key(key(db, "all", None).0);
        let bound = TokenHolder::Key(key(db, "one", Some("fractions")).0);
        assert!(may(&everywhere, "letters") && may(&bound, "fractions"));
        assert!(!may(&bound, "letters"));
        let guide = TokenHolder::Person(create_person(db, "guide@example.org", Role::Guide));
        assert!(!guide.scopes().rights().allow(Scope::DemographicsRead));
        assert!(!grace.scopes().rights().allow(Scope::RosterRead));
        assert!(admin.scopes().rights().allow(Scope::RosterWrite));
    });
}

#[test]
fn a_device_code_may_be_polled_at_servers_whose_clocks_differ() {
    on_both_stores(|db| {
        let ada = create_person(db, "ada@example.org", Role::Developer);
        let codes = write(db, |tx| device::start(tx, morning(), STAGING));
        let poll = |seconds: i64| {
            let now = morning().plus_seconds(seconds);
            write(db, |tx| device::poll(tx, now, STAGING, &codes.device_code))
        };
        for seconds in [0, 2, 4] {
            assert_eq!(poll(seconds + 40).unwrap_err(), TokenRefusal::Pending, "ahead by 40 s");
            assert_eq!(poll(seconds + 1).unwrap_err(), TokenRefusal::Pending);
        }
        let decide =
            |tx: &mut Tx<'_>| device::decide(tx, morning(), STAGING, &codes.user_code, &ada, true);
        assert!(write(db, decide));
        assert_eq!(poll(6 + 40).unwrap().0, ada);
    });
}

#[test]
fn a_device_code_is_approved_by_a_person_and_used_once() {
    on_both_stores(|db| {
        let ada = create_person(db, "ada@example.org", Role::Developer);
        let poll = |seconds: i64, code: &str| {
            let now = morning().plus_seconds(seconds);
            write(db, |tx| device::poll(tx, now, STAGING, code)).map(|(person, _)| person.id)
        };
        let decide = |code: &str, approve| {
            write(db, |tx| device::decide(tx, morning(), STAGING, code, &ada, approve))
        };
        let request = write(db, |tx| device::start(tx, morning(), STAGING));
        let typed = request.user_code.to_lowercase().replace('-', " ");
        let shown = write(db, |tx| device::waiting(tx, morning(), STAGING, &typed));
        assert_eq!(shown, Some(request.user_code.clone()));
        let elsewhere = write(db, |tx| {
            device::waiting(tx, morning(), Environment::Production, &request.user_code)
        });
        assert_eq!(elsewhere, None);
        let code = request.device_code.as_str();
        assert_eq!(poll(0, code), Err(TokenRefusal::Pending));
        assert_eq!(poll(1, code), Err(TokenRefusal::SlowDown));
        assert_eq!(poll(1 + 2, code), Err(TokenRefusal::SlowDown), "five seconds more from now on");
        assert_eq!(poll(3 + 2 + 5 + 5, code), Err(TokenRefusal::Pending));
        assert!(decide(&typed, true) && !decide(&typed, true), "decided once");
        let now = morning().plus_seconds(100);
        let (person, token) = write(db, |tx| device::poll(tx, now, STAGING, code)).unwrap();
        assert_eq!(person, ada);
        assert_eq!(bearer(db, STAGING, &token), Ok(TokenHolder::Person(ada.clone())));
        assert_eq!(bearer(db, Environment::Production, &token), Err(TokenRejection::Unknown));
        assert_eq!(poll(200, code), Err(TokenRefusal::Unknown), "used once");

        let denied = write(db, |tx| device::start(tx, morning(), STAGING));
        assert!(decide(&denied.user_code, false));
        assert_eq!(poll(0, &denied.device_code), Err(TokenRefusal::Denied));
        let late = write(db, |tx| device::start(tx, morning(), STAGING));
        let end = limits::DEVICE_CODE_LIFETIME_S;
        assert_eq!(poll(end, &late.device_code), Err(TokenRefusal::Expired));
        let now = morning().plus_seconds(end);
        let approved =
            write(db, |tx| device::decide(tx, now, STAGING, &late.user_code, &ada, true));
        assert!(!approved, "too late");
    });
}

#[test]
fn guesses_are_counted_before_they_are_checked_and_expire() {
    on_both_stores(|db| {
        let subjects = vec![("account ada".to_owned(), 3), ("address 192.0.2.1".to_owned(), 5)];
        let guess = |seconds: i64, subjects: &[guess::GuessedAccount]| {
            let now = morning().plus_seconds(seconds);
            db.write_blocking(|tx| guess::count(tx, now, subjects))
        };
        for _ in 0..3 {
            guess(0, &subjects).unwrap();
        }
        let refused = guess(60, &subjects).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::TooManyRequests);
        assert_eq!(refused.retry_after_s, Some(14 * 60));
        // Another account from there has two left.
        let other = vec![("account grace".to_owned(), 3), subjects[1].clone()];
        guess(60, &other).unwrap();
        write(db, |tx| guess::take_back(tx, &other));
        guess(60, &other).unwrap();
        guess(60, &other).unwrap();
        assert!(guess(60, &other).is_err());
        guess(limits::GUESS_WINDOW_S, &subjects).unwrap();
    });
}
