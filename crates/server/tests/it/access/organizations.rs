//! Callers who are limited to organizations: what lists return, and how soon a changed limit applies.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_access::{NewClient, Role, api_key, client, person};
use lyceum_core::Reach;
use lyceum_roster::{collections, kinds, repository};
use lyceum_server::routes;
use lyceum_testkit::naive_reach::WholeRoster;
use lyceum_testkit::records;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::{TestServer, always_both, both};
use serde_json::{Value, json};

use super::{limited_client, work_routes};
use crate::enrolling::ROSTERING;
use crate::limited::AREAS;
use crate::people;

/// Two districts with two schools each; each school has a course, a class, a teacher and two students.
fn districts(server: &TestServer) {
    let db = server.db();
    for district in ["d1", "d2"] {
        let org = json!({ "sourcedId": district, "name": district, "type": "district" });
        records::create(db, "orgs", &org);
        for school in ["a", "b"].map(|name| format!("{district}{name}")) {
            let parent = json!({ "sourcedId": district });
            let org =
                json!({ "sourcedId": school, "name": school, "type": "school", "parent": parent });
            records::create(db, "orgs", &org);
            let (course, class) = (format!("{school}-course"), format!("{school}-class"));
            records::course(db, &course, &school, "Math");
            records::class(db, &class, &course, &school);
            for number in 1..=3 {
                let user = format!("{school}-{number}");
                records::student(db, &user, &school, "03");
                let role = if number == 1 { "teacher" } else { "student" };
                records::enroll(db, &user, &class, &school, role);
            }
        }
    }
}

/// The ids on all pages of a list, without those of a second key for the same records.
fn ids(client: &TestClient, path: &str, key: &str) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    loop {
        let offset = ids.len();
        let page: Value =
            client.get(&format!("{path}?limit=1000&offset={offset}")).expect(200).json();
        let records = page[key].as_array().unwrap_or_else(|| panic!("{path}: {page}"));
        ids.extend(records.iter().map(|one| one["sourcedId"].as_str().unwrap().to_owned()));
        if records.len() < 1000 {
            break;
        }
    }
    ids.sort();
    ids
}

#[test]
fn each_list_of_the_roster_agrees_with_a_naive_filter() {
    both(|server| {
        districts(server);
        let all = server.client();
        let whole = WholeRoster::read(server.db());
        for roots in [vec!["d1"], vec!["d2b"], vec!["d1a", "d2"]] {
            let limited = limited_client(server, &roots);
            let reach = Reach::organizations(roots.clone()).unwrap();
            let mut lists = 0;
            for collection in collections::all() {
                let path = format!("{}/{}", collection.kind.service.prefix(), collection.path);
                let key = collection.kind.many;
                let seen = whole.seen(collection.kind.one, &reach);
                let expected = ids(&all, &path, key).into_iter().filter(|id| seen.contains(id));
                assert_eq!(
                    ids(&limited, &path, key),
                    expected.collect::<Vec<_>>(),
                    "{path} {roots:?}"
                );
                lists += 1;
            }
            assert_eq!(lists, kinds::ALL.len() + collections::PARTS.len());
            for class in ["d1a-class", "d2b-class"] {
                let path = format!("{ROSTERING}/classes/{class}/students");
                let is_seen = whole.seen("class", &reach).contains(&class.to_owned());
                let status = limited.get(&path).send().status;
                assert_eq!(status, if is_seen { 200 } else { 404 }, "{path} {roots:?}");
            }
        }
    });
}

#[test]
fn each_list_route_is_compared_or_refuses_limited_callers() {
    use lyceum_http::route::LimitedCallers;
    for area in routes::all().into_iter().filter(|area| !AREAS.contains(&area.name)) {
        for route in
            area.routes.iter().filter(|route| route.limited_callers == LimitedCallers::Served)
        {
            let path = format!("{}{}", area.base, route.path);
            let is_known = path.starts_with("/ims/oneroster/")
                || work_routes::AREAS.contains(&area.name)
                || KNOWN.contains(&&*path);
            assert!(
                is_known,
                "compare the answers of {path} with a naive filter, and add it to the list"
            );
        }
    }
}

/// Routes beside those of OneRoster whose answers to limited callers are tested.
const KNOWN: [&str; 9] = [
    "/adaptive/syllabus/{courseId}",
    "/bridge/users",
    "/changes",
    "/exports/roster.zip",
    "/imports",
    "/imports/{id}",
    "/imports/{id}/discard",
    "/imports/{id}/rejected.csv",
    "/imports/{id}/start",
];

#[test]
fn a_limit_applies_to_tokens_that_exist_already() {
    both(|server| {
        districts(server);
        let (id, secret) = server.register(&NewClient::named("reports"));
        let reports = server.anonymous().with_token(server.token_of(&id, &secret));
        let count = || ids(&reports, &format!("{ROSTERING}/users"), "users").len();
        assert_eq!(count(), 12);
        let limit = |reach: Reach| {
            server.db().write_blocking(|tx| client::limit(tx, &id, &reach)).unwrap();
        };
        let becomes = |wanted: usize| {
            let begun = Instant::now();
            while count() != wanted {
                assert!(begun.elapsed() < Duration::from_secs(10), "the limit is not noticed");
                thread::sleep(Duration::from_millis(50));
            }
        };
        limit(Reach::organizations(["d1"]).unwrap());
        becomes(6);
        limit(Reach::organizations(["d1a"]).unwrap());
        becomes(3);
        // The school moves to another district, and with it all that belongs to it.
        limit(Reach::organizations(["d2"]).unwrap());
        becomes(6);
        let to = json!({ "org": { "parent": { "sourcedId": "d2" } } });
        let path = format!("{ROSTERING}/orgs/d1a");
        server.client().patch(&path).json(&to).expect(200);
        assert_eq!(count(), 9);
        limit(Reach::Everything);
        becomes(12);
    });
}

#[test]
fn a_record_outside_of_the_reach_is_answered_like_one_that_does_not_exist() {
    both(|server| {
        districts(server);
        let limited = limited_client(server, &["d1a"]);
        let path = |id: &str| format!("{ROSTERING}/users/{id}");
        let answer = |id: &str| {
            let answer = limited.get(&path(id)).send();
            (answer.status, answer.text().replace(id, "ID"))
        };
        assert_eq!(answer("d1a-2").0, 200);
        assert_eq!(answer("d2a-2").0, 404);
        assert_eq!(answer("d2a-2"), answer("x-unknown"));
        let rename = json!({ "user": { "givenName": "Eve" } });
        let change = |id: &str| limited.patch(&path(id)).json(&rename).send().status;
        assert_eq!((change("d1a-2"), change("d2a-2")), (200, 404));
        assert_eq!(
            server.client().get(&path("d2a-2")).expect(200).json::<Value>()["user"]["givenName"],
            "d2a-2"
        );
    });
}

#[test]
fn limits_of_clients_keys_and_people_survive_a_restart() {
    both(|server| {
        districts(server);
        let environment = server.setup().config.server.env;
        let (id, secret) = server.register(&NewClient::named("reports"));
        let client_token = server.token_of(&id, &secret);
        let key_token = people::key(server, "nightly", Role::Guide, environment);
        let sam = people::let_in(server, "sam@example.org", Role::Guide);
        let sam_token = sam.token().unwrap().to_owned();
        let limit = server.db().write_blocking(|tx| {
            client::limit(tx, &id, &Reach::organizations(["d1"])?)?;
            api_key::limit(tx, "nightly", &Reach::organizations(["d2a"])?)?;
            person::limit(tx, "sam@example.org", &Reach::ClassesOf("d1b-1".to_owned()))
        });
        limit.unwrap();
        server.restart();
        let users = |token: &str| {
            let caller = server.anonymous().with_token(token);
            ids(&caller, &format!("{ROSTERING}/users"), "users")
        };
        let users_of = |schools: &[&str]| -> Vec<String> {
            let users =
                |school: &&str| (1..=3).map(|n| format!("{school}-{n}")).collect::<Vec<_>>();
            schools.iter().flat_map(users).collect()
        };
        assert_eq!(users(&client_token), users_of(&["d1a", "d1b"]));
        assert_eq!(users(&key_token), users_of(&["d2a"]));
        assert_eq!(users(&sam_token), users_of(&["d1b"]));
    });
}

/// Sends a user of each school. Answers the ids of those that were stored, and whether others were refused.
fn send_users(client: &TestClient, round: usize) -> (Vec<String>, bool) {
    let schools = ["d1a", "d1b", "d2a", "d2b"];
    let line = |school: &&str| {
        let role =
            json!({ "roleType": "primary", "role": "student", "org": { "sourcedId": school } });
        let id = format!("n-{round}-{school}");
        let user = json!({ "sourcedId": id, "enabledUser": true, "givenName": "N", "familyName": "N", "roles": [role] });
        user.to_string()
    };
    let lines: Vec<String> = schools.iter().map(line).collect();
    let path = format!("{ROSTERING}/users/bulk?atomic=false");
    let answer = client.post(&path).body("application/x-ndjson", lines.join("\n")).expect(200);
    let answers: Vec<Value> =
        answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let stored = answers.iter().filter(|one| one["outcome"] == "created");
    let stored: Vec<String> =
        stored.map(|one| one["sourcedId"].as_str().unwrap().to_owned()).collect();
    let is_refused = stored.len() < schools.len();
    (stored, is_refused)
}

#[test]
fn bulk_writes_while_a_limit_and_the_tree_change_store_what_the_answers_say() {
    always_both(|server| {
        districts(server);
        let (id, secret) = server.register(&NewClient::named("reports"));
        let reports = server.anonymous().with_token(server.token_of(&id, &secret));
        let near = Reach::organizations(["d1"]).unwrap();
        let (db, all) = (server.db().clone(), server.client());
        let is_done = AtomicBool::new(false);
        let mut stored = Vec::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                for turn in 0.. {
                    let (reach, district) = match turn % 2 {
                        0 => (near.clone(), "d2"),
                        _ => (Reach::Everything, "d1"),
                    };
                    db.write_blocking(|tx| client::limit(tx, &id, &reach)).unwrap();
                    let to = json!({ "org": { "parent": { "sourcedId": district } } });
                    all.patch(&format!("{ROSTERING}/orgs/d1b")).json(&to).expect(200);
                    if is_done.load(Ordering::Relaxed) {
                        return;
                    }
                    thread::sleep(Duration::from_millis(700));
                }
            });
            let (mut was_refused, mut was_whole) = (false, false);
            let begun = Instant::now();
            for round in 0.. {
                let (ids, is_refused) = send_users(&reports, round);
                stored.extend(ids);
                was_refused |= is_refused;
                was_whole |= !is_refused;
                if was_refused && was_whole && round > 50 {
                    break;
                }
                if round > 50 {
                    thread::sleep(Duration::from_millis(20));
                }
                assert!(begun.elapsed() < Duration::from_mins(1), "{was_refused} {was_whole}");
            }
            is_done.store(true, Ordering::Relaxed);
        });
        stored.sort();
        let users = |client: &TestClient| ids(client, &format!("{ROSTERING}/users"), "users");
        let new: Vec<String> =
            users(&server.client()).into_iter().filter(|id| id.starts_with("n-")).collect();
        assert_eq!(new, stored);
        let limited = limited_client(server, &["d1"]);
        let mut expected = WholeRoster::read(server.db()).seen("user", &near);
        expected.sort();
        assert_eq!(users(&limited), expected);
        let report = server.db().read_blocking(|tx| repository::check(tx, |_, _| {})).unwrap();
        assert_eq!(report.faults, Vec::<String>::new());
    });
}
