//! A school with one pupil who is everywhere: each area has strings that exist nowhere else, put there by the real
//! routes.

use std::collections::BTreeMap;

use lyceum_testkit::full_size;
use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::http::Http;
use crate::served::{Served, Store};

/// The number of events before the superseded one. Every second one is the person's, with 1.5 XP.
pub(crate) fn event_count() -> usize {
    if full_size() { 2000 } else { 40 }
}

pub(crate) const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
pub(crate) const ID: &str = "zq-pupil-7781";
/// Another pupil, whose id begins with the person's.
pub(crate) const OTHER: &str = "zq-pupil-77812";
/// Strings that are only about the person, with the area to which they are given.
pub(crate) const STRINGS: [(&str, &str); 17] = [
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
    ("superseded event", "Zqsuperseded"),
    ("rejected event", "Zqrejected"),
    ("feedback", "Zqfeedback"),
];

pub(crate) fn string(area: &str) -> &'static str {
    STRINGS.iter().find(|(known, _)| *known == area).unwrap().1
}

pub(crate) struct School {
    pub(crate) served: Served,
    pub(crate) client: TestClient,
}

impl School {
    pub(crate) fn start(store: Store) -> Self {
        Self::on(Served::start(store))
    }

    /// The school on a server that was killed.
    pub(crate) fn again(self) -> Self {
        Self::on(self.served.again())
    }

    /// The school on a running server.
    pub(crate) fn on(served: Served) -> Self {
        let http = Http::sign_in(&served.base, &served.client("platform", &[]), None);
        let client = TestClient::new(&served.base).with_token(http.token());
        Self { served, client }
    }

    pub(crate) fn create(&self, path: &str, body: &Value) -> Value {
        self.client.post(path).json(body).expect(201).json()
    }

    pub(crate) fn roster(&self, kind: &str, path: &str, body: &Value) {
        self.create(&format!("{ROSTERING}{path}"), &json!({ kind: body }));
    }

    pub(crate) fn read(&self, path: &str) -> Value {
        self.client.get(path).expect(200).json()
    }

    /// The address of the account of the server's administrator.
    pub(crate) fn populate(&self) -> Value {
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

    pub(crate) fn users(&self, school: &Value) {
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
    pub(crate) fn lesson(&self) {
        let item = r#"<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="essay" title="Essay" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="string"><qti-correct-response><qti-value>A</qti-value></qti-correct-response></qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-item-body><p><qti-text-entry-interaction response-identifier="RESPONSE"/></p></qti-item-body>
  <qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>
</qti-assessment-item>"#;
        self.create(
            "/assessment-items",
            &json!({"format": "xml", "xml": item, "metadata": {"difficulty": "easy"}}),
        );
        let member = json!({"identifier": "essay", "href": "/assessment-items/essay"});
        let section = json!({"identifier": "section", "title": "All", "visible": true, "sequence": 1, "qti-assessment-item-ref": [member]});
        let part = json!({"identifier": "part", "navigationMode": "linear", "submissionMode": "individual", "qti-assessment-section": [section]});
        self.create(
            "/assessment-tests",
            &json!({"identifier": "test", "title": "Test", "qti-test-part": [part]}),
        );
        let resource = json!({"sourcedId": "resource", "title": "Questions", "vendorResourceId": "test",
            "metadata": {"type": "qti", "subType": "qti-test", "lessonType": "powerpath-100", "xp": 20}});
        self.create("/ims/oneroster/resources/v1p2/resources", &json!({ "resource": resource }));
        let unit = json!({"sourcedId": "unit", "title": "Unit", "sortOrder": 1, "course": {"sourcedId": "course"}});
        self.roster("courseComponent", "/courses/components", &unit);
        let lesson = json!({"sourcedId": "lesson", "title": "Lesson", "sortOrder": 1,
            "courseComponent": {"sourcedId": "unit"}, "resource": {"sourcedId": "resource"}});
        self.roster("componentResource", "/courses/component-resources", &lesson);
    }

    pub(crate) fn gradebook(&self) {
        let gradebook = "/ims/oneroster/gradebook/v1p2";
        let item = json!({"sourcedId": "item", "title": "Item", "status": "active"});
        self.create(
            &format!("{gradebook}/assessmentLineItems"),
            &json!({ "assessmentLineItem": item }),
        );
        let result = json!({
            "sourcedId": format!("result-of-{ID}"), "status": "active", "score": 87, "scoreStatus": "fully graded",
            "scoreDate": "2026-01-15", "comment": string("comment of a result"),
            "student": {"sourcedId": ID}, "assessmentLineItem": {"sourcedId": "item"},
        });
        self.create(
            &format!("{gradebook}/assessmentResults"),
            &json!({ "assessmentResult": result }),
        );
    }

    pub(crate) fn answers(&self) {
        for response in [string("answer"), "A"] {
            let path = format!("/adaptive/getNextQuestion?student={ID}&lesson=lesson");
            let next = self.read(&path);
            let body = json!({"student": ID, "lesson": "lesson", "question": next["question"]["id"],
                "responses": {"RESPONSE": response}});
            self.client.put("/adaptive/updateStudentQuestionResponse").json(&body).expect(200);
        }
    }

    /// Events of both pupils, in one envelope that is compressed and in one that is not.
    pub(crate) fn events(&self) {
        let count = event_count();
        let all: Vec<Value> =
            (0..count).map(|number| self.event(number, number % 2 == 0)).collect();
        for chunk in all.chunks(100) {
            self.client.post("/caliper/event").json(&envelope(chunk)).expect(200);
        }
        let mut superseded = self.event(count, true);
        superseded["extensions"] = json!({ "note": string("superseded event") });
        let mut earlier = envelope(&[superseded]);
        earlier["sendTime"] = "2026-01-16T07:00:00.000Z".into();
        self.client.post("/caliper/event").json(&earlier).expect(200);
        self.client.post("/caliper/event").json(&envelope(&[self.event(count, true)])).expect(200);
        let mut rejected = self.event(count + 1, true);
        rejected["eventTime"] = string("rejected event").into();
        self.client.post("/caliper/event").json(&envelope(&[rejected])).expect(400);
    }

    /// The status of an envelope with a new event of the person.
    pub(crate) fn sends_event_of_person(&self) -> u16 {
        let event = self.event(100_000, true);
        self.client.post("/caliper/event").json(&envelope(&[event])).send().status
    }

    pub(crate) fn more_events(&self, count: usize) {
        let all: Vec<Value> =
            (0..count).map(|number| self.event(10_000 + number, number % 2 == 0)).collect();
        for chunk in all.chunks(100) {
            self.client.post("/caliper/event").json(&envelope(chunk)).expect(200);
        }
    }

    pub(crate) fn event(&self, number: usize, is_own: bool) -> Value {
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

    pub(crate) fn game(&self) {
        self.create("/api/games", &json!({"slug": "rivers", "displayName": "Rivers"}));
        let of_player = |path: &str| format!("/api/games/rivers/{path}?userId={ID}");
        let score = json!({"score": 4711, "metadata": {"level": string("score metadata")}});
        self.create(&of_player("scores"), &score);
        let state = json!({"state": {"house": string("game state")}});
        self.client.put(&of_player("state")).json(&state).expect(200);
    }

    pub(crate) fn account(&self) {
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

    pub(crate) fn feedback(&self) {
        let feedback = json!({"userId": ID, "feedback": string("feedback"), "lessonId": "lesson"});
        self.create("/lesson", &feedback);
    }

    /// Issues a badge.
    pub(crate) fn badge(&self) -> Value {
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
        self.create("/ims/ob/v3p0/credentials/", &definition);
        let award = json!({"achievementId": "https://example.org/achievements/1", "userId": ID, "awardedDate": "2026-01-15T08:00:00Z"});
        let badge = self.create("/ims/ob/v3p0/issue-badge/", &award);
        self.client.post(&format!("/clr/{ID}/compile")).json(&json!({})).expect(201);
        badge
    }

    /// Totals that an erasure must not change.
    pub(crate) fn totals(&self) -> Vec<Value> {
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

    /// The work of students of the class, by actor but without naming them.
    pub(crate) fn sums(&self) -> BTreeMap<String, String> {
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

pub(crate) fn envelope(events: &[Value]) -> Value {
    json!({
        "sensor": "https://app.example", "sendTime": "2026-01-16T08:00:00.000Z",
        "dataVersion": "http://purl.imsglobal.org/ctx/caliper/v1p2", "data": events,
    })
}
