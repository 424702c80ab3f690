//! Keys, clients and the server in the console.

use lyceum_access::audit::{self, AuditChange};
use lyceum_access::screens::{clients, keys, system};
use lyceum_access::{
    MasterKey, NewApiKey, NewClient, NewPerson, Person, Role, Scopes, api_key, person,
};
use lyceum_core::config::Environment;
use lyceum_core::{ProblemKind, Result};
use lyceum_store::{Db, Tx, jobs};
use serde_json::Value;

use crate::{morning, on_both_stores, write};

type Work<'a> = dyn Fn(&mut Tx<'_>) -> Result<()> + 'a;

fn someone(db: &Db, email: &str, role: Role) -> Person {
    let new = NewPerson { email: email.to_owned(), name: email.to_owned(), role, password: None };
    write(db, |tx| person::create(tx, morning(), &new))
}

fn key(db: &Db, name: &str, maker: Option<&Person>) -> String {
    let new = NewApiKey {
        name: name.to_owned(),
        role: Role::Developer,
        project: None,
        maker: maker.map(|maker| maker.id.clone()),
    };
    let created = |tx: &mut Tx<'_>| api_key::create(tx, morning(), Environment::Staging, &new);
    write(db, created).0.id
}

fn noted(db: &Db) -> Vec<String> {
    let log = write(db, |tx| audit::list(tx, &audit::AuditFilter::default(), 50, 0));
    log.entries.into_iter().map(|entry| entry.what).collect()
}

#[test]
fn people_see_their_own_keys_and_administrators_all() {
    on_both_stores(|db| {
        let ada = someone(db, "ada@example.org", Role::Administrator);
        let dev = someone(db, "dev@example.org", Role::Developer);
        let (own, of_command) = (key(db, "own", Some(&dev)), key(db, "command", None));
        let seen = |viewer: &Person| -> Vec<(String, Option<String>)> {
            let list = write(db, |tx| keys::list(tx, viewer));
            list.into_iter().map(|one| (one.key.name, one.maker)).collect()
        };
        let own_row = ("own".to_owned(), Some("dev@example.org".to_owned()));
        assert_eq!(seen(&dev), std::slice::from_ref(&own_row));
        let mut all = seen(&ada);
        all.sort();
        assert_eq!(all, [("command".to_owned(), None), own_row]);
        let refused = db.write_blocking(|tx| keys::revoke(tx, morning(), &dev, &of_command));
        assert_eq!(refused.unwrap_err().kind, ProblemKind::NotFound);
        write(db, |tx| keys::rotate(tx, morning(), &dev, &own));
        write(db, |tx| keys::revoke(tx, morning(), &ada, &own));
        assert_eq!(noted(db), ["key.revoke", "key.rotate"]);
        let revoked = write(db, |tx| keys::read(tx, &dev, &own)).key.revoked;
        assert_eq!(revoked, Some(morning()));
    });
}

#[test]
fn only_administrators_manage_clients_and_each_change_is_audited() {
    on_both_stores(|db| {
        let ada = someone(db, "ada@example.org", Role::Administrator);
        let dev = someone(db, "dev@example.org", Role::Developer);
        let (new, master) = (NewClient::named("Reports"), MasterKey::random());
        let (client, _) = write(db, |tx| clients::create(tx, morning(), &ada, &new, Some(&master)));
        write(db, |tx| clients::rotate(tx, morning(), &ada, &client.id, &master));
        assert!(write(db, |tx| clients::read(tx, &ada, &client.id)).signs);
        write(db, |tx| clients::revoke(tx, morning(), &ada, &client.id));
        assert_eq!(noted(db), ["client.revoke", "client.rotate", "client.create"]);
        let listed = write(db, |tx| clients::list(tx, &ada));
        assert_eq!((listed.len(), listed[0].used), (1, None));
        assert_eq!(write(db, |tx| clients::read(tx, &ada, &client.id)), listed[0]);
        let kind = |tried: Result<()>| tried.unwrap_err().kind;
        let id = client.id.as_str();
        let tries: [&Work<'_>; 5] = [
            &|tx| clients::list(tx, &dev).map(drop),
            &|tx| clients::read(tx, &dev, id).map(drop),
            &|tx| clients::create(tx, morning(), &dev, &new, None).map(drop),
            &|tx| clients::rotate(tx, morning(), &dev, id, &master).map(drop),
            &|tx| clients::revoke(tx, morning(), &dev, id),
        ];
        for tried in tries {
            assert_eq!(kind(db.write_blocking(tried)), ProblemKind::Forbidden);
        }
        let missing = db.write_blocking(|tx| clients::read(tx, &ada, "nobody").map(drop));
        assert_eq!(kind(missing), ProblemKind::NotFound);
    });
}

#[test]
fn a_client_needs_chosen_scopes_or_explicitly_all() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(clients::chosen_scopes(true, &[]).unwrap(), Scopes::default());
    let chosen = clients::chosen_scopes(false, &names(&["lyceum/events.read"])).unwrap();
    assert_eq!(chosen.to_string(), "lyceum/events.read");
    for wrong in [names(&[]), names(&["lyceum/everything"])] {
        let problem = clients::chosen_scopes(false, &wrong).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Invalid);
    }
}

#[test]
fn the_server_page_counts_jobs_and_changes_and_its_lists_have_pages() {
    on_both_stores(|db| {
        let empty = write(db, system::overview);
        assert_eq!((empty.waiting_jobs, empty.failed_jobs, empty.change_count), (0, 0, 0));
        let note = |who: &str, what, subject: &str, at: i64| {
            let now = morning().plus_seconds(at);
            write(db, |tx| AuditChange { who, what, subject }.note(tx, now, &Value::Null));
        };
        note("ada", "project.deploy", "rivers", 1);
        note("ben", "client.create", "c1", 2);
        note("ada", "project.deploy", "rivers", 3);
        let id = write(db, |tx| jobs::add(tx, "work", ""));
        let known = write(db, system::overview);
        assert_eq!((known.waiting_jobs, known.failed_jobs, known.change_count), (1, 0, 3));
        let changes = write(db, |tx| system::changes(tx, &audit::AuditFilter::default(), 1, 1));
        assert_eq!(
            (changes.page.total, changes.page.entries[0].what.as_str()),
            (3, "client.create")
        );
        assert_eq!(
            (changes.who, changes.what.len()),
            (vec!["ada".to_owned(), "ben".to_owned()], 2)
        );
        assert_eq!(write(db, |tx| system::job(tx, &id.to_string())).0.kind, "work");
        let entry = changes.page.entries[0].clone();
        assert_eq!(write(db, |tx| system::change(tx, &entry.id.to_string())), entry);
        for wrong in ["0", "x", ""] {
            let job = db.write_blocking(|tx| system::job(tx, wrong).map(drop));
            let change = db.write_blocking(|tx| system::change(tx, wrong).map(drop));
            assert_eq!(job.unwrap_err().kind, ProblemKind::NotFound);
            assert_eq!(change.unwrap_err().kind, ProblemKind::NotFound);
        }
    });
}
