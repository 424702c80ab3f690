//! Rules that hold among requests that come at the same moment.

use lyceum_access::device;
use lyceum_access::identity::{self, IdentityRule};
use lyceum_access::limits;
use lyceum_access::oidc::IdTokenClaims;
use lyceum_access::{
    MasterKey, NewApiKey, NewClient, NewPerson, Person, Role, api_key, client, first_administrator,
    person,
};
use lyceum_core::Result;
use lyceum_core::config::Environment;
use lyceum_store::{Db, Tx};
use lyceum_testkit::race::at_once;

use crate::{morning, on_both_stores, write};

const STAGING: Environment = Environment::Staging;
const ROUNDS: usize = 5;

fn person_of(email: &str, role: Role) -> NewPerson {
    let password = Some("a hash".to_owned());
    NewPerson { email: email.to_owned(), name: "Somebody".to_owned(), role, password }
}

/// Runs two requests of which one alone may succeed, a few times, on both stores. `prepare` is told
/// the round; `request` is told the round and which of the two it is.
fn one_of_two<T: Send + 'static>(
    prepare: fn(&Db, usize),
    request: fn(&mut Tx<'_>, usize, &str) -> Result<T>,
) {
    on_both_stores(|db| {
        for round in 0..ROUNDS {
            prepare(db, round);
            let (one, other) = at_once(
                db,
                move |tx| request(tx, round, "one"),
                move |tx| request(tx, round, "other"),
            );
            let (one, other) = (one.map(drop), other.map(drop));
            assert!(one.is_ok() != other.is_ok(), "round {round}: {one:?}, {other:?}");
        }
    });
}

fn email(round: usize, which: &str) -> String {
    format!("{which}-{round}@example.org")
}

#[test]
fn two_administrators_who_disable_each_other_leave_one() {
    one_of_two(
        |db, round| {
            for which in ["one", "other"] {
                let new = person_of(&email(round, which), Role::Administrator);
                write(db, |tx| person::create(tx, morning(), &new));
            }
            for known in write(db, person::list) {
                let is_former = !known.email.ends_with(&format!("-{round}@example.org"));
                if is_former && known.disabled.is_none() {
                    write(db, |tx| person::disable(tx, morning(), &known.email));
                }
            }
        },
        |tx, round, which| person::disable(tx, morning(), &email(round, which)),
    );
}

#[test]
fn the_first_administrator_is_created_once() {
    on_both_stores(|db| {
        let master = || MasterKey::parse(&"7".repeat(64)).unwrap();
        let make = |master: MasterKey, which: &'static str| {
            move |tx: &mut Tx<'_>| -> Result<Person> {
                let link = first_administrator::link(&master);
                let email = email(0, which);
                first_administrator::create_by_link(
                    tx,
                    morning(),
                    &master,
                    &link,
                    (&email, which, "a hash"),
                )
            }
        };
        let (one, other) = at_once(db, make(master(), "one"), make(master(), "other"));
        assert!(one.is_ok() != other.is_ok(), "{one:?}, {other:?}");
    });
}

#[test]
fn two_active_keys_never_have_the_same_name() {
    one_of_two(
        |_, _| {},
        |tx, round, _| {
            let name = format!("ci-{round}");
            let new = NewApiKey { name, role: Role::Guide, project: None, maker: None };
            api_key::create(tx, morning(), STAGING, &new)
        },
    );
}

#[test]
fn an_account_is_created_once_for_an_address() {
    one_of_two(
        |_, _| {},
        |tx, round, _| person::create(tx, morning(), &person_of(&email(round, "x"), Role::Guide)),
    );
}

#[test]
fn a_client_is_created_once_for_an_id() {
    one_of_two(
        |_, _| {},
        |tx, round, which| {
            let id = Some(format!("client-{round}"));
            client::create(tx, morning(), &NewClient { id, ..NewClient::named(which) })
        },
    );
}

#[test]
fn an_account_is_linked_to_one_identity_of_a_provider() {
    one_of_two(
        |db, round| {
            let new = person_of(&email(round, "x"), Role::Guide);
            write(db, |tx| person::create(tx, morning(), &new));
        },
        |tx, round, which| {
            let email = Some(email(round, "x"));
            let claims = IdTokenClaims { subject: format!("{which}-{round}"), email, name: None };
            identity::person(tx, morning(), "https://id.test", &claims, &IdentityRule::default())
        },
    );
}

#[test]
fn a_link_sets_one_of_two_passwords() {
    on_both_stores(|db| {
        for round in 0..ROUNDS {
            let new = person_of(&email(round, "x"), Role::Guide);
            let owner = write(db, |tx| person::create(tx, morning(), &new));
            let link = write(db, |tx| person::new_link(tx, morning(), &owner));
            let set = |link: String, password: &'static str| {
                move |tx: &mut Tx<'_>| person::use_link(tx, morning(), &link, password)
            };
            let (one, other) = at_once(db, set(link.clone(), "a hash"), set(link, "another"));
            assert!(one.is_ok() != other.is_ok(), "round {round}: {one:?}, {other:?}");
        }
    });
}

#[test]
fn a_device_code_is_exchanged_for_one_token() {
    on_both_stores(|db| {
        let new = person_of("ada@example.org", Role::Developer);
        let ada = write(db, |tx| person::create(tx, morning(), &new));
        for round in 0..ROUNDS {
            let request = write(db, |tx| device::start(tx, morning(), STAGING));
            let code = &request.user_code;
            write(db, |tx| device::decide(tx, morning(), STAGING, code, &ada, true));
            let poll =
                |code: String| move |tx: &mut Tx<'_>| device::poll(tx, morning(), STAGING, &code);
            let code = request.device_code;
            let (one, other) = at_once(db, poll(code.clone()), poll(code));
            let (one, other) = (one.unwrap(), other.unwrap());
            assert!(one.is_ok() != other.is_ok(), "round {round}: {one:?}, {other:?}");
        }
    });
}

#[test]
fn concurrent_device_requests_keep_the_limit_of_waiting_sign_ins() {
    on_both_stores(|db| {
        let ask = |tx: &mut Tx<'_>| device::start(tx, morning(), STAGING);
        let room = limits::DEVICE_CODES_MAX_COUNT - 1;
        write(db, |tx| (0..room).try_for_each(|_| ask(tx).map(drop)));
        let (one, other) = at_once(db, ask, ask);
        assert!(one.is_ok() != other.is_ok(), "{one:?}, {other:?}");
    });
}
