//! Persons are erased while events, answers, roster writes and imports about them and about others arrive.

use std::fmt::Write as _;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use lyceum_testkit::full_size;
use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use super::school::{ROSTERING, School, envelope};
use super::{ended, nowhere_in, pages_of, unpack};
use crate::http::Http;
use crate::served::Store;

/// Each string about a pupil contains this, which no other pupil's string does.
fn mark(pupil: usize) -> String {
    format!("zqload{pupil:03}")
}

fn id(pupil: usize) -> String {
    format!("{}-pupil", mark(pupil))
}

pub(super) fn persons_are_erased(store: Store) {
    let database = match &store {
        Store::Postgres(address) => Some(address.clone()),
        Store::Sqlite => None,
    };
    let (erased, pupils) = if full_size() { (12, 24) } else { (2, 5) };
    let load = Load::start(School::start(store), pupils);
    let key = load.school.served.client("platform", &["lyceum/people.manage"]);
    let http = Http::sign_in(&load.school.served.base, &key, None);
    let manager = TestClient::new(&load.school.served.base).with_token(http.token());
    let writes = &load;
    thread::scope(|scope| {
        for write in [Load::send_events, Load::answer, Load::write_records, Load::import] {
            scope.spawn(move || {
                for round in 0.. {
                    for pupil in 0..pupils {
                        if writes.is_over.load(Ordering::Relaxed) {
                            return;
                        }
                        write(writes, pupil, round);
                    }
                }
            });
        }
        let stops = StopsLoad(&load);
        for pupil in 0..erased {
            manager.post(&format!("/api/people/{}/erase", id(pupil))).expect(202);
            ended(&manager, &id(pupil));
        }
        drop(stops);
    });
    let (accepted, refused) =
        (load.accepted.load(Ordering::Relaxed), load.refused.load(Ordering::Relaxed));
    assert!(refused > 0 && accepted > pupils as u64, "{accepted} accepted, {refused} refused");
    load.agrees_with_a_rebuild(accepted);
    let others: Vec<String> = (erased..pupils).map(id).collect();
    for pupil in 0..erased {
        load.school.client.get(&format!("{ROSTERING}/users/{}", id(pupil))).expect(404);
    }
    for other in &others {
        load.school.client.get(&format!("{ROSTERING}/users/{other}")).expect(200);
    }
    let marks: Vec<(String, String)> = (0..erased).map(|pupil| (id(pupil), mark(pupil))).collect();
    let marks: Vec<(&str, &str)> =
        marks.iter().map(|(id, mark)| (id.as_str(), mark.as_str())).collect();
    let events = load.school.client.get("/caliper/events?limit=3000").expect(200).text();
    for (area, mark) in &marks {
        assert!(!events.contains(mark), "{area} is in the event log");
    }
    let served = &load.school.served;
    let (backup, unpacked) = (served.file("new.backup"), served.file("unpacked"));
    served.run(&["admin", "backup", backup.to_str().unwrap()]);
    unpack(&backup, &unpacked);
    let mut folders = vec![served.file("data"), unpacked];
    folders.extend(database.map(|address| pages_of(&address)));
    for folder in folders {
        nowhere_in(&folder, &marks);
    }
}

/// A school whose pupils are written about.
struct Load {
    school: School,
    pupils: usize,
    is_over: AtomicBool,
    /// Events that the server accepted.
    accepted: AtomicU64,
    /// Writes that it refused because they name an erased person.
    refused: AtomicU64,
    /// The number of the next event.
    number: AtomicUsize,
}

/// Ends the load, also if the test fails.
struct StopsLoad<'a>(&'a Load);

impl Drop for StopsLoad<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

impl Load {
    fn start(school: School, pupils: usize) -> Self {
        let org = json!({"sourcedId": "school", "name": "School", "type": "school"});
        school.roster("org", "/orgs", &org);
        let course = json!({"sourcedId": "course", "title": "Course", "courseCode": "C",
            "org": {"sourcedId": "school"}, "subjects": ["Math"]});
        school.roster("course", "/courses", &course);
        school.lesson();
        let item = json!({"sourcedId": "item", "title": "Item", "status": "active"});
        school.create(
            "/ims/oneroster/gradebook/v1p2/assessmentLineItems",
            &json!({ "assessmentLineItem": item }),
        );
        school.create("/api/games", &json!({"slug": "rivers", "displayName": "Rivers"}));
        for pupil in 0..pupils {
            school.roster("user", "/users", &user(pupil, 0));
            let path = format!("/bridge/enrollments/enroll/{}/course", id(pupil));
            school.create(&path, &json!({}));
        }
        Self {
            school,
            pupils,
            is_over: AtomicBool::new(false),
            accepted: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            number: AtomicUsize::new(0),
        }
    }

    /// Whether a write was done; otherwise it was refused for the sake of an erased person.
    #[track_caller]
    fn is_done(&self, (status, text): (u16, String)) -> bool {
        match status {
            200..=204 => true,
            400 | 401 | 404 | 409 | 422 => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                false
            }
            _ => panic!("{status}: {text}"),
        }
    }

    fn send_events(&self, pupil: usize, _: usize) {
        let mut event = self.school.event(self.number.fetch_add(1, Ordering::Relaxed), false);
        event["actor"]["id"] =
            format!("{}{ROSTERING}/users/{}", self.school.served.base, id(pupil)).into();
        event["actor"]["email"] = format!("{}@example.org", mark(pupil)).into();
        event["object"]["subject"] = "Art".into();
        event["extensions"] = json!({ "note": format!("{} did it", mark(pupil)) });
        let reply = self.school.client.post("/caliper/event").json(&envelope(&[event])).send();
        if self.is_done((reply.status, reply.text())) {
            self.accepted.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn answer(&self, pupil: usize, round: usize) {
        let id = id(pupil);
        let path = format!("/adaptive/getNextQuestion?student={id}&lesson=lesson");
        let next = self.school.client.get(&path).send();
        if !self.is_done((next.status, next.text())) {
            return;
        }
        let question = next.json::<Value>()["question"]["id"].clone();
        let body = json!({"student": id, "lesson": "lesson", "question": question,
            "responses": {"RESPONSE": format!("{} wrote this {round}", mark(pupil))}});
        let reply =
            self.school.client.put("/adaptive/updateStudentQuestionResponse").json(&body).send();
        self.is_done((reply.status, reply.text()));
    }

    /// Writes the pupil's record, a result, a score and a state.
    fn write_records(&self, pupil: usize, round: usize) {
        let (client, id) = (&self.school.client, id(pupil));
        let result = json!({
            "sourcedId": format!("{id}-result-{round}"), "status": "active", "score": 87, "scoreStatus": "fully graded",
            "scoreDate": "2026-01-15", "comment": format!("{} is good", mark(pupil)),
            "student": {"sourcedId": id}, "assessmentLineItem": {"sourcedId": "item"},
        });
        let game = |what: &str| format!("/api/games/rivers/{what}?userId={id}");
        let note = json!({ "note": mark(pupil) });
        for call in [
            client
                .put(&format!("{ROSTERING}/users/{id}"))
                .json(&json!({ "user": user(pupil, round) })),
            client
                .post("/ims/oneroster/gradebook/v1p2/assessmentResults")
                .json(&json!({ "assessmentResult": result })),
            client.post(&game("scores")).json(&json!({ "score": round, "metadata": note })),
            client.put(&game("state")).json(&json!({ "state": note })),
        ] {
            let reply = call.send();
            self.is_done((reply.status, reply.text()));
        }
    }

    /// Sends all pupils again, as a nightly import does.
    fn import(&self, pupil: usize, round: usize) {
        if pupil > 0 {
            return;
        }
        let users = (0..self.pupils).fold(String::new(), |mut text, pupil| {
            let _ = writeln!(text, "{}", json!({ "user": user(pupil, round) }));
            text
        });
        let path = format!("{ROSTERING}/users/bulk?atomic=false");
        let reply = self.school.client.post(&path).body("application/x-ndjson", users).send();
        self.is_done((reply.status, reply.text()));
        let folder = self.school.served.file("nightly");
        fs::create_dir_all(&folder).unwrap();
        let manifest =
            "propertyName,value\nmanifest.version,1.0\noneroster.version,1.2\nfile.users,delta\n";
        fs::write(folder.join("manifest.csv"), manifest).unwrap();
        let mut users = String::from(
            "sourcedId,status,dateLastModified,enabledUser,username,givenName,familyName\n",
        );
        for pupil in 0..self.pupils {
            let (id, mark) = (id(pupil), mark(pupil));
            let _ = writeln!(
                users,
                "{id},active,2026-09-01T00:00:00Z,true,{mark}.name,{mark}given,{mark}family"
            );
        }
        fs::write(folder.join("users.csv"), users).unwrap();
        let mut import = self.school.served.begin(&["import", folder.to_str().unwrap()]);
        import.wait().unwrap();
    }

    /// No accepted event is lost, and facts and totals are those that a rebuild computes.
    fn agrees_with_a_rebuild(&self, accepted: u64) {
        let facts = || -> Vec<String> {
            let users = self.school.read(&format!("{ROSTERING}/users?limit=1000"));
            let users = users["users"].as_array().unwrap().iter();
            let facts = users.map(|user| {
                let path = format!(
                    "/bridge/analytics/activity?studentId={}&startDate=2026-01-01&endDate=2027-12-31",
                    user["sourcedId"].as_str().unwrap()
                );
                self.school.client.get(&path).expect(200).text()
            });
            let mut facts: Vec<String> = facts.collect();
            facts.sort();
            facts
        };
        let before = facts();
        let questions: u64 = before.iter().map(|report| questions_in_art(report)).sum();
        assert_eq!(questions, 3 * accepted, "an event of 3 questions is lost or counted twice");
        self.school.served.run(&["events", "rebuild", "--json"]);
        assert_eq!(facts(), before, "a rebuild gives other facts");
        let checked = self.school.served.run(&["admin", "check", "--json"]);
        let checked: Value = serde_json::from_str(&checked).unwrap();
        assert_eq!(checked["faults"], json!([]));
    }
}

fn user(pupil: usize, round: usize) -> Value {
    let mark = mark(pupil);
    json!({
        "sourcedId": id(pupil), "status": "active", "enabledUser": "true", "username": format!("{mark}.name"),
        "givenName": format!("{mark}given"), "familyName": format!("{mark}family"),
        "email": format!("{mark}@example.org"), "metadata": {"note": format!("{mark} in {round}")},
        "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "school"}}],
    })
}

/// The questions in events of the load, by a report.
fn questions_in_art(report: &str) -> u64 {
    let report: Value = serde_json::from_str(report).unwrap();
    let days = report["facts"].as_object().unwrap().values();
    days.filter_map(|day| day["Art"]["activityMetrics"]["totalQuestions"].as_u64()).sum()
}
