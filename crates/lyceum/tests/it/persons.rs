//! A person is exported and erased: every area has strings that exist nowhere else, put there by the real routes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use lyceum_testkit::client::TestClient;
use lyceum_testkit::full_size;
use serde_json::{Value, json};

use crate::http::Http;
use crate::served::{Served, Store, on_both_stores};

on_both_stores!(everything_about_a_person_is_exported_and_erased);

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
const ID: &str = "zq-pupil-7781";
/// Another pupil, whose id begins with the person's.
const OTHER: &str = "zq-pupil-77812";
/// Strings that are only about the person, with the area to which they are given.
const STRINGS: [(&str, &str); 16] = [
    ("sourcedId", ID),
    ("given name", "Zqgivenname"),
    ("family name", "Zqfamilyname"),
    ("username", "zqusername.7781"),
    ("email", "zqmail7781@example.org"),
    ("identifier", "zq-number-7781"),
    ("metadata", "Zqmetadata"),
    ("birth date", "2011-12-13"),
    ("account name", "Zqaccountname"),
    ("comment of a result", "Zqcommentofresult"),
    ("answer", "Zqanswertext"),
    ("game state", "Zqgamestate"),
    ("score metadata", "Zqscoremetadata"),
    ("event extension", "Zqextension"),
    ("rejected event", "Zqrejected"),
    ("feedback", "Zqfeedback"),
];

fn string(area: &str) -> &'static str {
    STRINGS.iter().find(|(known, _)| *known == area).unwrap().1
}

struct School {
    served: Served,
    client: TestClient,
}

impl School {
    fn start(store: Store) -> Self {
        let served = Served::start(store);
        let http = Http::sign_in(&served.base, &served.client("platform", &[]), None);
        let client = TestClient::new(&served.base).with_token(http.token());
        Self { served, client }
    }

    fn made(&self, path: &str, body: &Value) -> Value {
        self.client.post(path).json(body).expect(201).json()
    }

    fn roster(&self, kind: &str, path: &str, body: &Value) {
        self.made(&format!("{ROSTERING}{path}"), &json!({ kind: body }));
    }

    fn read(&self, path: &str) -> Value {
        self.client.get(path).expect(200).json()
    }

    /// The address of the account of the server's administrator.
    fn populate(&self) -> Value {
        let school = json!({"sourcedId": "school"});
        self.roster(
            "org",
            "/orgs",
            &json!({"sourcedId": "school", "name": "School", "type": "school"}),
        );
        let course = json!({"sourcedId": "course", "title": "Course", "courseCode": "C", "org": school, "subjects": ["Math"]});
        self.roster("course", "/courses", &course);
        self.users(&school);
        self.lesson();
        for user in [ID, OTHER] {
            self.client
                .post(&format!("/bridge/enrollments/enroll/{user}/course"))
                .json(&json!({}))
                .expect(201);
        }
        self.gradebook();
        self.answers();
        self.events();
        self.game();
        self.account();
        self.feedback();
        self.badge()
    }

    fn users(&self, school: &Value) {
        let role = json!({"roleType": "primary", "role": "student", "org": school});
        let user = json!({
            "sourcedId": ID, "status": "active", "enabledUser": "true", "username": string("username"),
            "givenName": string("given name"), "familyName": string("family name"),
            "email": string("email"), "identifier": string("identifier"),
            "metadata": {"note": string("metadata")}, "roles": [role], "grades": ["05"],
        });
        self.roster("user", "/users", &user);
        // The id of this one begins with that of the other.
        let other = json!({
            "sourcedId": OTHER, "status": "active", "enabledUser": "true", "username": "other",
            "givenName": "Other", "familyName": "Pupil", "roles": [role], "grades": ["05"],
            "agents": [{"sourcedId": ID}], "metadata": {"buddy": format!("works with {ID}.")},
        });
        self.roster("user", "/users", &other);
        let demographics = json!({"sourcedId": ID, "birthDate": string("birth date")});
        self.roster("demographics", "/demographics", &demographics);
    }

    /// A lesson whose first question has text as its answer.
    fn lesson(&self) {
        let item = r#"<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="essay" title="Essay" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="string"><qti-correct-response><qti-value>A</qti-value></qti-correct-response></qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-item-body><p><qti-text-entry-interaction response-identifier="RESPONSE"/></p></qti-item-body>
  <qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>
</qti-assessment-item>"#;
        self.made(
            "/assessment-items",
            &json!({"format": "xml", "xml": item, "metadata": {"difficulty": "easy"}}),
        );
        let member = json!({"identifier": "essay", "href": "/assessment-items/essay"});
        let section = json!({"identifier": "section", "title": "All", "visible": true, "sequence": 1, "qti-assessment-item-ref": [member]});
        let part = json!({"identifier": "part", "navigationMode": "linear", "submissionMode": "individual", "qti-assessment-section": [section]});
        self.made(
            "/assessment-tests",
            &json!({"identifier": "test", "title": "Test", "qti-test-part": [part]}),
        );
        let resource = json!({"sourcedId": "resource", "title": "Questions", "vendorResourceId": "test",
            "metadata": {"type": "qti", "subType": "qti-test", "lessonType": "powerpath-100", "xp": 20}});
        self.made("/ims/oneroster/resources/v1p2/resources", &json!({ "resource": resource }));
        let unit = json!({"sourcedId": "unit", "title": "Unit", "sortOrder": 1, "course": {"sourcedId": "course"}});
        self.roster("courseComponent", "/courses/components", &unit);
        let lesson = json!({"sourcedId": "lesson", "title": "Lesson", "sortOrder": 1,
            "courseComponent": {"sourcedId": "unit"}, "resource": {"sourcedId": "resource"}});
        self.roster("componentResource", "/courses/component-resources", &lesson);
    }

    fn gradebook(&self) {
        let gradebook = "/ims/oneroster/gradebook/v1p2";
        let item = json!({"sourcedId": "item", "title": "Item", "status": "active"});
        self.made(
            &format!("{gradebook}/assessmentLineItems"),
            &json!({ "assessmentLineItem": item }),
        );
        let result = json!({
            "sourcedId": format!("result-of-{ID}"), "status": "active", "score": 87, "scoreStatus": "fully graded",
            "scoreDate": "2026-01-15", "comment": string("comment of a result"),
            "student": {"sourcedId": ID}, "assessmentLineItem": {"sourcedId": "item"},
        });
        self.made(
            &format!("{gradebook}/assessmentResults"),
            &json!({ "assessmentResult": result }),
        );
    }

    fn answers(&self) {
        for response in [string("answer"), "A"] {
            let path = format!("/adaptive/getNextQuestion?student={ID}&lesson=lesson");
            let next = self.read(&path);
            let body = json!({"student": ID, "lesson": "lesson", "question": next["question"]["id"],
                "responses": {"RESPONSE": response}});
            self.client.put("/adaptive/updateStudentQuestionResponse").json(&body).expect(200);
        }
    }

    /// Events of both pupils, in one envelope that is compressed and in one that is not.
    fn events(&self) {
        let count = if full_size() { 2000 } else { 40 };
        let all: Vec<Value> =
            (0..count).map(|number| self.event(number, number % 2 == 0)).collect();
        for chunk in all.chunks(100) {
            self.client.post("/caliper/event").json(&envelope(chunk)).expect(200);
        }
        self.client.post("/caliper/event").json(&envelope(&[self.event(count, true)])).expect(200);
        let mut rejected = self.event(count + 1, true);
        rejected["eventTime"] = string("rejected event").into();
        self.client.post("/caliper/event").json(&envelope(&[rejected])).expect(400);
    }

    fn event(&self, number: usize, is_own: bool) -> Value {
        let person = if is_own { ID } else { OTHER };
        let email = if is_own { string("email") } else { "other@example.org" };
        // The other pupil's events name the person, too.
        let extensions = match is_own {
            true => json!({ "note": string("event extension") }),
            false => json!({ "partner": format!("{}/users/{ID}", self.served.base) }),
        };
        json!({
            "@context": "http://purl.imsglobal.org/ctx/caliper/v1p2",
            "id": format!("urn:uuid:0190c1a6-0000-7000-8000-{number:012}"),
            "type": "ActivityEvent", "action": "Completed", "profile": "ServiceProfile",
            "eventTime": format!("2026-01-15T{:02}:{:02}:00.000Z", 8 + number / 60 % 8, number % 60),
            "actor": {"id": format!("{}{ROSTERING}/users/{person}", self.served.base), "type": "ServiceUser", "email": email},
            "object": {
                "id": "https://app.example/activities/1", "type": "ServiceActivityContext", "subject": "Math",
                "app": {"name": "App"}, "course": {"id": format!("{}{ROSTERING}/courses/course", self.served.base), "name": "Course"},
                "activity": {"id": "a-1", "name": "Sums"},
            },
            "generated": {
                "id": format!("urn:uuid:0190c1a6-0000-7000-9000-{number:012}"), "type": "ServiceActivityMetricsCollection",
                "items": [{"type": "xpEarned", "value": 1.5}, {"type": "totalQuestions", "value": 3}, {"type": "correctQuestions", "value": 2}],
            },
            "extensions": extensions,
        })
    }

    fn game(&self) {
        self.made("/api/games", &json!({"slug": "rivers", "displayName": "Rivers"}));
        let of_player = |path: &str| format!("/api/games/rivers/{path}?userId={ID}");
        let score = json!({"score": 4711, "metadata": {"level": string("score metadata")}});
        self.made(&of_player("scores"), &score);
        let state = json!({"state": {"house": string("game state")}});
        self.client.put(&of_player("state")).json(&state).expect(200);
    }

    fn account(&self) {
        for (email, role) in [("admin@example.org", "administrator"), (string("email"), "guide")] {
            let name = string("account name");
            self.served.run(&[
                "admin",
                "user",
                "create",
                email,
                "--role",
                role,
                "--name",
                if role == "guide" { name } else { "Admin" },
            ]);
        }
    }

    fn feedback(&self) {
        let feedback = json!({"userId": ID, "feedback": string("feedback"), "lessonId": "lesson"});
        self.made("/lesson", &feedback);
    }

    /// Issues a badge.
    fn badge(&self) -> Value {
        let definition = json!({
            "@context": ["https://www.w3.org/2018/credentials/v1", "https://purl.imsglobal.org/spec/ob/v3p0/context.json"],
            "id": "https://example.org/badges/1", "type": ["VerifiableCredential", "OpenBadgeCredential"],
            "issuer": "https://example.org/issuers/1", "name": "Math Master", "description": "Masters mathematics",
            "image": {"id": "https://example.org/badges/1.png", "type": "Image"},
            "credentialSubject": {
                "id": "https://example.org/achievements/1", "type": ["Achievement"], "name": "Math Master",
                "description": "Masters mathematics", "criteria": {"narrative": "Answer every question"},
            },
        });
        self.made("/ims/ob/v3p0/credentials/", &definition);
        let award = json!({"achievementId": "https://example.org/achievements/1", "userId": ID, "awardedDate": "2026-01-15T08:00:00Z"});
        let badge = self.made("/ims/ob/v3p0/issue-badge/", &award);
        self.client.post(&format!("/clr/{ID}/compile")).json(&json!({})).expect(201);
        badge
    }

    /// Totals that an erasure must not change.
    fn totals(&self) -> Vec<Value> {
        let members = self.read("/ims/oneroster/rostering/v1p2/enrollments?limit=100");
        let scores = self.read("/api/games/rivers/leaderboard");
        let results = self.read("/ims/oneroster/gradebook/v1p2/assessmentResults?limit=100");
        let sum = |list: &Value, member: &str| -> f64 {
            list.as_array().unwrap().iter().filter_map(|one| one[member].as_f64()).sum()
        };
        vec![
            json!(members["enrollments"].as_array().unwrap().len()),
            json!(sum(&scores, "score")),
            json!(sum(&results["assessmentResults"], "score")),
        ]
    }

    /// What students of the class did, by actor but without naming them.
    fn sums(&self) -> BTreeMap<String, String> {
        let mut sums = BTreeMap::new();
        let users = self.read(&format!("{ROSTERING}/users?limit=100"));
        for user in users["users"].as_array().unwrap() {
            let id = user["sourcedId"].as_str().unwrap();
            let key = if id == OTHER { id } else { "the person" };
            let path = format!(
                "/bridge/analytics/activity?studentId={id}&startDate=2026-01-01&endDate=2026-12-31"
            );
            let facts = self.client.get(&path).expect(200).text();
            sums.insert(key.to_owned(), facts.replace(id, ""));
        }
        sums
    }
}

fn envelope(events: &[Value]) -> Value {
    json!({
        "sensor": "https://app.example", "sendTime": "2026-01-16T08:00:00.000Z",
        "dataVersion": "http://purl.imsglobal.org/ctx/caliper/v1p2", "data": events,
    })
}

fn everything_about_a_person_is_exported_and_erased(store: Store) {
    let database = match &store {
        Store::Postgres(address) => Some(address.clone()),
        Store::Sqlite => None,
    };
    let school = School::start(store);
    let badge = school.populate();
    let served = &school.served;

    verifies(&school, &badge, false);
    let exported = exported(served);
    for (area, string) in STRINGS.iter().filter(|(area, _)| *area != "rejected event") {
        assert!(
            exported.values().any(|text| text.contains(string)),
            "{area}: '{string}' is not exported"
        );
    }

    let (totals, sums) = (school.totals(), school.sums());
    assert!(sums["the person"].contains("31.5"), "{sums:?}");
    println!("{sums:#?}");
    let dry: Value =
        serde_json::from_str(&served.run(&["admin", "person", "erase", ID, "--dry-run", "--json"]))
            .unwrap();
    assert_eq!(dry["erase"]["users"], 1, "{dry}");
    assert!(served.fails(&["admin", "person", "erase", ID]).contains("--yes"));
    let erased: Value =
        serde_json::from_str(&served.run(&["admin", "person", "erase", ID, "--yes", "--json"]))
            .unwrap();
    println!("{erased:#}");
    let pseudonym = erased["erasure"]["pseudonym"].as_str().unwrap();
    assert!(erased["historyEnds"].as_str().unwrap().ends_with('Z'));

    assert_eq!(school.totals(), totals);
    assert_eq!(school.sums(), sums);
    let again: Value =
        serde_json::from_str(&served.run(&["admin", "person", "erase", ID, "--yes", "--json"]))
            .unwrap();
    assert_eq!(again, erased, "erasing again changes nothing");
    served.run(&["events", "rebuild", "--json"]);
    assert_eq!(school.sums(), sums, "a rebuild gives other facts");
    let checked: Value = serde_json::from_str(&served.run(&["admin", "check", "--json"])).unwrap();
    assert_eq!(checked["faults"], json!([]));
    is_revoked(&school, &badge);
    comes_not_back(&school);
    in_no_event(&school);
    let other = school.read(&format!("{ROSTERING}/users/{OTHER}"));
    assert_eq!(other["user"]["agents"][0]["sourcedId"], pseudonym);
    assert_eq!(other["user"]["metadata"]["buddy"], format!("works with {pseudonym}."));

    let backup = served.file("new.backup");
    served.run(&["admin", "backup", backup.to_str().unwrap()]);
    let unpacked = served.file("unpacked");
    unpack(&backup, &unpacked);
    let mut folders = vec![served.file("data"), unpacked];
    folders.extend(database.map(|address| pages_of(&address)));
    for folder in folders {
        nowhere_in(&folder);
    }
}

/// The files of the export by name.
fn exported(served: &Served) -> BTreeMap<String, String> {
    let zip = served.file("person.zip");
    served.run(&["admin", "person", "export", ID, "-o", zip.to_str().unwrap()]);
    let mut zip = zip::ZipArchive::new(File::open(zip).unwrap()).unwrap();
    let mut files = BTreeMap::new();
    for at in 0..zip.len() {
        let mut file = zip.by_index(at).unwrap();
        let name = file.name().unwrap().into_owned();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        files.insert(name, text);
    }
    assert!(files["index.html"].contains("roster/users.ndjson"));
    files
}

/// Panics if not every check of the badge passes, except that of the revocation as told.
fn verifies(school: &School, badge: &Value, is_revoked: bool) {
    let report: Value = school.client.post("/verify").json(badge).expect(200).json();
    let report = &report["verification"];
    assert_eq!(report["verified"], !is_revoked, "{report:#}");
    let checks = report["checks"].as_array().unwrap();
    let failed: Vec<_> = checks.iter().filter(|check| check["outcome"] == "failed").collect();
    let names: Vec<_> = failed.iter().map(|check| &check["name"]).collect();
    assert_eq!(names, if is_revoked { vec!["status"] } else { Vec::new() }, "{report:#}");
}

/// The badge is revoked, and the server no longer shows it.
fn is_revoked(school: &School, badge: &Value) {
    verifies(school, badge, true);
    let id = badge["id"].as_str().unwrap().rsplit('/').next().unwrap();
    school.client.get(&format!("/ims/ob/v3p0/credentials/{id}")).expect(404);
}

/// The texts of events are compressed, so they are read as a client reads them.
fn in_no_event(school: &School) {
    let events = school.client.get("/caliper/events?limit=3000").expect(200).text();
    let events = events.replace(OTHER, "");
    for (area, string) in STRINGS {
        assert!(!events.contains(string), "{area} is in the event log");
    }
    assert!(events.contains("/users/erased-"));
}

/// Delayed writes that name the person are refused.
fn comes_not_back(school: &School) {
    for number in [0, 9999] {
        let refused = school
            .client
            .post("/caliper/event")
            .json(&envelope(&[school.event(number, true)]))
            .expect(409);
        assert!(!refused.text().contains(ID), "{}", refused.text());
    }
    let role = json!({"roleType": "primary", "role": "student", "org": {"sourcedId": "school"}});
    let user = json!({"user": {"sourcedId": ID, "status": "active", "enabledUser": "true", "username": "x",
        "givenName": "x", "familyName": "x", "roles": [role]}});
    school.client.post(&format!("{ROSTERING}/users")).json(&user).expect(409);
    school.client.put(&format!("{ROSTERING}/users/{ID}")).json(&user).expect(404);
    let refused =
        school.client.post(&format!("{ROSTERING}/users/bulk?atomic=false")).json(&user).expect(200);
    assert!(refused.text().contains(r#""outcome":"refused""#), "{}", refused.text());
}

fn unpack(backup: &Path, to: &Path) {
    let file = zstd::Decoder::new(File::open(backup).unwrap()).unwrap();
    tar::Archive::new(file).unpack(to).unwrap();
}

/// The folder with the tables of a database, after its deleted rows were removed from the pages.
fn pages_of(address: &str) -> PathBuf {
    let mut client = postgres::Client::connect(address, postgres::NoTls).unwrap();
    client.batch_execute("VACUUM FULL").unwrap();
    client.batch_execute("CHECKPOINT").unwrap();
    let row = client
        .query_one(
            "SELECT current_setting('data_directory') || '/base/' || oid::text FROM pg_database \
             WHERE datname = current_database()",
            &[],
        )
        .unwrap();
    PathBuf::from(row.get::<_, String>(0))
}

/// Panics if a file below the folder contains a string of the person.
fn nowhere_in(folder: &Path) {
    let mut folders = vec![folder.to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = fs::read(&path).unwrap();
            for (area, string) in STRINGS {
                // The other pupil's id begins with the person's.
                let is_other = |at: &usize| bytes[*at..].starts_with(OTHER.as_bytes());
                let mut found = memchr::memmem::find_iter(&bytes, string.as_bytes());
                if let Some(at) = found.find(|at| !is_other(at)) {
                    let around = &bytes[at.saturating_sub(200)..(at + 200).min(bytes.len())];
                    panic!("{area} is in {}: {}", path.display(), String::from_utf8_lossy(around));
                }
            }
        }
    }
    assert!(files > 0, "{} has no files", folder.display());
}
