//! The content of the console's screens about projects and of its first page, on both stores.

use std::collections::BTreeMap;
use std::path::Path;

use lyceum_access::{NewClient, NewPerson, Person, Role, TokenHolder, client, join, person};
use lyceum_blob::Digest;
use lyceum_core::ProblemKind;
use lyceum_core::config::Environment;
use lyceum_core::time::Timestamp;
use lyceum_events::{CONTEXT, append, parse};
use lyceum_hosting::backup::runs;
use lyceum_hosting::deployments::{self, FrontendFile, FrontendFiles};
use lyceum_hosting::nodes::{Node, NodeSettings};
use lyceum_hosting::screens::home::SetupSteps;
use lyceum_hosting::screens::project::{self, Difference};
use lyceum_hosting::screens::{home, new_key, projects};
use lyceum_hosting::{MIGRATIONS, audit};
use lyceum_project::Artifact;
use lyceum_store::{Db, Migration};
use lyceum_testkit::{both_stores, records};
use serde_json::{Value, json};

/// Half past a minute.
fn now() -> Timestamp {
    "2026-01-15T08:00:30Z".parse().unwrap()
}

pub(crate) fn both(body: impl Fn(&Db)) {
    let migrations: Vec<Migration> = [
        lyceum_access::MIGRATIONS,
        lyceum_roster::MIGRATIONS,
        lyceum_events::MIGRATIONS,
        lyceum_bridge::MIGRATIONS,
        lyceum_games::MIGRATIONS,
        MIGRATIONS,
    ]
    .concat();
    both_stores(&migrations, |target| body(&Db::open(target, &migrations).unwrap()));
}

fn someone(db: &Db, email: &str, role: Role) -> Person {
    let new = NewPerson { email: email.to_owned(), name: email.to_owned(), role, password: None };
    db.write_blocking(|tx| person::create(tx, now(), &new)).unwrap()
}

/// A project with that version in service.
fn project(db: &Db, slug: &str, version: i64) {
    let sql = "INSERT INTO projects (slug, revision, active, latest, created_ms, updated_ms) \
               VALUES ($1, 1, $2, $2, 0, 0)";
    db.write_blocking(|tx| tx.execute(sql, &[slug.into(), version.into()])).unwrap();
}

/// A version whose frontend has these files, each with its text.
fn version(db: &Db, slug: &str, number: i64, files: &[(&str, &str)]) {
    let file = |(path, text): &(&str, &str)| {
        let (sha256, size) = (Digest::of(text.as_bytes()), text.len() as u64);
        let media = "text/html".to_owned();
        ((*path).to_owned(), FrontendFile { sha256, size, media })
    };
    let manifest = FrontendFiles(files.iter().map(file).collect::<BTreeMap<_, _>>());
    let zip =
        Artifact { sha256: Digest::of(format!("{slug}{number}").as_bytes()).to_string(), size: 1 };
    db.write_blocking(|tx| {
        deployments::keep_manifest(tx, now(), &zip, &manifest)?;
        let sql = "INSERT INTO deployments (id, slug, version, frontend, uses, made_by, made_ms) \
                   VALUES ($1, $2, $3, $4, $5, 'somebody', 0)";
        let uses = json!({ "database": false, "kv": number > 1, "bucket": false, "lms": false })
            .to_string();
        let id = format!("{slug}-{number}");
        tx.execute(
            sql,
            &[(&id).into(), slug.into(), number.into(), (&zip.sha256).into(), (&uses).into()],
        )
    })
    .unwrap();
}

#[test]
fn people_see_and_create_keys_for_their_own_projects_only() {
    both(|db| {
        let ada = someone(db, "ada@example.org", Role::Administrator);
        let dev = someone(db, "dev@example.org", Role::Developer);
        for slug in ["rivers", "lakes", "seas"] {
            project(db, slug, 1);
        }
        db.write_blocking(|tx| join(tx, "lakes", &dev.id)).unwrap();
        let seen = |person: &Person| -> Vec<String> {
            let list =
                db.read_blocking(|tx| projects::read(tx, &TokenHolder::Person(person.clone())));
            let slugs: Vec<String> = list.unwrap().into_iter().map(|one| one.slug).collect();
            assert_eq!(db.read_blocking(|tx| new_key::read(tx, person)).unwrap(), slugs);
            slugs
        };
        let mut all = seen(&ada);
        all.sort();
        assert_eq!(
            (all, seen(&dev)),
            (["lakes", "rivers", "seas"].map(str::to_owned).into(), vec!["lakes".to_owned()])
        );
        let create = |person: &Person, role, project| {
            let environment = Environment::Staging;
            db.write_blocking(|tx| {
                new_key::create(
                    tx,
                    now(),
                    environment,
                    person,
                    (&format!("{role} {project:?}"), role, project),
                )
            })
        };
        let (key, _) = create(&dev, Role::Administrator, Some("lakes")).unwrap();
        assert_eq!(key.role, Role::Developer, "a key has no more rights than its maker");
        for project in [Some("rivers"), None] {
            let refused = create(&dev, Role::Developer, project).unwrap_err();
            assert_eq!(refused.kind, ProblemKind::Forbidden);
        }
        let missing = create(&ada, Role::Developer, Some("ponds")).unwrap_err();
        assert_eq!(missing.kind, ProblemKind::NotFound);
        assert_eq!(create(&ada, Role::Guide, None).unwrap().0.role, Role::Guide);
    });
}

#[test]
fn projects_are_listed_with_the_versions_that_they_serve() {
    both(|db| {
        let ada = someone(db, "ada@example.org", Role::Administrator);
        for (slug, served) in [("rivers", 2), ("lakes", 1), ("seas", 1)] {
            project(db, slug, served);
        }
        for (slug, number) in [("rivers", 1), ("rivers", 2), ("rivers", 3), ("lakes", 1)] {
            version(db, slug, number, &[("index.html", "one")]);
        }
        let listed = db
            .read_blocking(|tx| projects::with_versions(tx, &TokenHolder::Person(ada.clone())))
            .unwrap();
        let mut served: Vec<(&str, Option<i64>)> = listed
            .iter()
            .map(|(project, version)| {
                (project.slug.as_str(), version.as_ref().map(|one| one.version))
            })
            .collect();
        served.sort_unstable();
        assert_eq!(served, [("lakes", Some(1)), ("rivers", Some(2)), ("seas", None)]);
    });
}

#[test]
fn two_versions_are_compared_part_by_part() {
    both(|db| {
        project(db, "rivers", 2);
        version(
            db,
            "rivers",
            1,
            &[("index.html", "one"), ("old.html", "old"), ("same.html", "same")],
        );
        version(
            db,
            "rivers",
            2,
            &[("index.html", "three"), ("new.html", "new"), ("same.html", "same")],
        );
        let compare = |from, to| {
            db.read_blocking(|tx| {
                let project = lyceum_hosting::projects::find(tx, "rivers")?;
                project::compare(tx, &project, from, to)
            })
        };
        let newest = compare(None, None).unwrap();
        assert_eq!((newest.from, newest.to, newest.same_count), (1, 2, 1));
        assert_eq!(newest.numbers, [2, 1]);
        let part = |name: &str, difference| (name.to_owned(), difference);
        let expected = [
            part("frontend/index.html", Difference::Changed(3, 5)),
            part("frontend/new.html", Difference::Added(3)),
            part("frontend/old.html", Difference::Removed(3)),
            part("integrations/kv", Difference::Added(0)),
        ];
        assert_eq!(newest.differences, expected);
        assert_eq!(compare(Some(2), Some(2)).unwrap().differences, []);
        assert_eq!(compare(Some(1), Some(3)).unwrap_err().kind, ProblemKind::NotFound);
    });
}

#[test]
fn changes_of_a_project_name_people() {
    both(|db| {
        let dev = someone(db, "dev@example.org", Role::Developer);
        project(db, "rivers", 1);
        let note = |who: &str, what: &str| {
            db.write_blocking(|tx| audit::note(tx, now(), ("rivers", who), what, &Value::Null))
                .unwrap();
        };
        note(&dev.id, "deploy");
        note("somebody", "rollback");
        let changes = db
            .read_blocking(|tx| {
                let project = lyceum_hosting::projects::find(tx, "rivers")?;
                project::changes(tx, &project)
            })
            .unwrap();
        let entries: Vec<String> =
            changes.iter().map(|entry| format!("{} {}", entry.who, entry.what)).collect();
        assert_eq!(entries, ["somebody rollback", "dev@example.org deploy"]);
    });
}

#[test]
fn home_has_counts_and_the_next_steps_of_a_new_server() {
    both(|db| {
        let read = || db.read_blocking(|tx| home::read(tx, now(), None)).unwrap();
        let new = read();
        assert_eq!((new.roster.students, new.events, new.steps), (0, 0, SetupSteps::default()));
        assert_eq!((new.intake.minutes.len(), new.intake.newest.is_none()), (60, true));
        assert!(
            new.last_backup.is_none() && new.sandbox.is_none() && new.intake.rate_arrived.is_none()
        );

        records::school(db, "s", "School");
        records::student(db, "ann", "s", "3");
        records::course(db, "c", "s", "Math");
        records::class(db, "k", "c", "s");
        records::enroll(db, "ann", "k", "s", "student");
        someone(db, "guide@example.org", Role::Guide);
        db.write_blocking(|tx| client::create(tx, now(), &NewClient::named("App"))).unwrap();
        for (number, after_s) in [(1, -600), (2, -10)] {
            send(db, number, now().plus_seconds(after_s));
        }
        let week_ago = now().plus_seconds(-8 * 86_400);
        let about = NodeSettings { name: "oak", address: "", shares_blobs: false };
        let node = Node::read(Path::new("none"), &about).unwrap();
        let created = db.write_blocking(|tx| {
            let run = runs::begin(tx, week_ago, &node)?;
            runs::finish(tx, week_ago, run.id, "backups/1", 1)
        });
        created.unwrap();
        let home = read();
        let counts = [
            home.roster.students,
            home.roster.courses,
            home.roster.enrollments,
            home.events,
            home.unknown_actors,
        ];
        assert_eq!(counts, [1, 1, 1, 2, 1]);
        let all = SetupSteps {
            has_roster: true,
            has_enrollments: true,
            has_app: true,
            has_events: true,
            has_guide: true,
        };
        assert_eq!(home.steps, all);
        assert!(home.last_backup.unwrap().is_old);
        let by_minute: Vec<i64> = home.intake.minutes.iter().map(|(count, _)| *count).collect();
        assert_eq!((by_minute[49], by_minute[59], by_minute.iter().sum::<i64>()), (1, 1, 2));
        let arrived = home.intake.rate_arrived.unwrap();
        assert_eq!(
            (home.intake.rate.to_bits(), arrived.first, arrived.last),
            (0.2_f64.to_bits(), 2, 2)
        );
        let newest = home.intake.newest.unwrap();
        assert_eq!((newest.delay_ms, newest.is_late), (61_000, true));
    });
}

/// An event of a stranger that arrives then, 61 seconds after it was sent.
fn send(db: &Db, number: u32, at: Timestamp) {
    let sent = at.plus_seconds(-61).to_string();
    let envelope = json!({
        "sensor": "https://app.example.org", "sendTime": sent, "dataVersion": CONTEXT,
        "data": [{
            "@context": CONTEXT, "id": format!("urn:uuid:00000000-0000-4000-8000-{number:012}"), "type": "Event",
            "profile": "GeneralProfile", "action": "Created", "eventTime": sent,
            "actor": { "id": "https://example.org/users/1", "type": "Person" },
            "object": { "id": "https://example.org/documents/1", "type": "Document" },
        }],
    });
    let events = parse(&envelope.to_string(), at).unwrap().events;
    db.write_blocking(|tx| append(tx, at, "app", &events).map(drop)).unwrap();
}
