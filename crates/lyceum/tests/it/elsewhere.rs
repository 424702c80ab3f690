//! A sandbox that learns with another server: a second process, with real credentials.

use std::io::{Read, Write};
use std::net::TcpListener;

use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::http::Http;
use crate::sandbox::Running;
use crate::served::{Served, Store};
use crate::transcript::Place;

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
const CONFIG: &str = r#"{
  "name": "Rivers",
  "integrations": { "lms": {
    "base": { "organization": { "id": "river-school", "name": "River School", "type": "school" } },
    "courses": [{ "subject": "Math", "grade": 4, "totalXp": 500, "masterableUnits": 10 }]
  } }
}"#;

/// The other server, as its administrator sees it, and a place for sandboxes with credentials of it.
struct Platform {
    served: Served,
    client: TestClient,
    place: Place,
}

impl Platform {
    fn start() -> Self {
        let served = Served::start(Store::Sqlite);
        let key = served.client("platform", &[]);
        let token = Http::sign_in(&served.base, &key, None);
        let client = TestClient::new(&served.base).with_token(token.token());
        let place = Place::new()
            .with("TRACKING_ONEROSTER_API_URL", &served.base)
            .with("TRACKING_API_AUTH_URL", &format!("{}/oauth2/token", served.base))
            .with("TRACKING_API_CLIENT_ID", &key.id)
            .with("TRACKING_API_CLIENT_SECRET", &key.secret)
            .with("SANDBOX_TRACKING_STUDENT_ID", "ann");
        place.write("lyceum.config.json", CONFIG);
        Self { served, client, place }
    }

    /// The student whom the demo user is.
    fn with_ann(self) -> Self {
        let org = json!({"org": {"sourcedId": "hill", "name": "Hillside", "type": "school"}});
        self.client.post(&format!("{ROSTERING}/orgs")).json(&org).expect(201);
        let user = json!({"user": {
            "sourcedId": "ann", "username": "ann", "enabledUser": true, "givenName": "Ann",
            "familyName": "Hill", "email": "ann@example.org", "primaryOrg": {"sourcedId": "hill"},
            "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "hill"}}],
        }});
        self.client.post(&format!("{ROSTERING}/users")).json(&user).expect(201);
        self
    }

    fn get(&self, path: &str) -> Value {
        self.client.get(path).expect(200).json()
    }
}

fn end(sandbox: &Running, key: &str, status: u16) -> Value {
    let body = json!({
        "activityData": {"activityId": "fractions-1", "subject": "Math", "grade": 4},
        "scoreData": {"correctQuestions": 10, "totalQuestions": 10},
        "timingData": {"durationSeconds": 600},
        "masteredUnits": 2,
    });
    let client = sandbox.client();
    let call = client.post("/api/lms/end-activity").header("idempotency-key", key);
    call.json(&body).expect(status).json()
}

fn set_up(sandbox: &Running, query: &str) -> Value {
    let setup = json!({
        "gameId": "rivers",
        "organization": {"id": "river-school", "name": "River School", "type": "school"},
        "courses": [{"subject": "Math", "grade": 4, "totalXp": 500, "masterableUnits": 10}],
    });
    sandbox.client().post(&format!("/api/lms/setup{query}")).json(&setup).expect(200).json()
}

fn missing(sandbox: &Running) -> Vec<String> {
    serde_json::from_value(sandbox.get("/api/lms/verify/rivers")["missing"].clone()).unwrap()
}

#[test]
#[ignore = "rest"]
fn the_student_of_a_remote_platform_learns_there() {
    let platform = Platform::start().with_ann();
    let sandbox = Running::start(&platform.place, "--memory");
    assert_eq!(sandbox.printed["learning"], "remote");
    assert_eq!(
        sandbox.get("/api/lms/integrations/rivers")["courses"][0]["courseId"],
        "rivers-math-4"
    );
    assert_eq!(missing(&sandbox).len(), 6, "all but the student");
    let refused = end(&sandbox, "early", 403);
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("is not a student of the course")
    );

    let planned = set_up(&sandbox, "?dryRun=true");
    assert_eq!(planned["found"][0]["resources"][1]["state"], "missing", "{planned}");
    platform.client.get(&format!("{ROSTERING}/courses/rivers-math-4")).expect(404);
    set_up(&sandbox, "");
    assert_eq!(missing(&sandbox), [""; 0]);
    let course = platform.get(&format!("{ROSTERING}/courses/rivers-math-4"));
    assert_eq!(course["course"]["title"], "Rivers: Math 4");
    assert_eq!(
        platform.get(&format!("{ROSTERING}/orgs/river-school"))["org"]["name"],
        "River School"
    );
    assert_eq!(
        sandbox.get("/api/lms/config/rivers")["base"]["organization"]["name"],
        "River School"
    );
    let me = sandbox.get("/api/users/me");
    assert_eq!(
        (&me["id"], &me["lms"]["id"], &me["lms"]["role"]),
        (&json!("demo-user"), &json!("ann"), &json!("student"))
    );
    let enrolled = json!([{"subject": "Math", "grade": 4, "courseId": "rivers-math-4"}]);
    assert_eq!(me["lms"]["enrollments"], enrolled);
    let hill = json!([{"id": "hill", "name": "Hillside", "type": "school", "isPrimary": true}]);
    assert_eq!(me["timeback"]["organizations"], hill);

    let earned = end(&sandbox, "one", 200);
    assert_eq!((&earned["xpAwarded"], &earned["pctCompleteApp"]), (&json!(12.5), &json!(20.0)));
    assert_eq!(end(&sandbox, "one", 200), earned, "once for one key");
    assert_eq!(end(&sandbox, "two", 200)["xpAwarded"], 6.3, "the second attempt");
    assert_eq!(sandbox.get("/api/lms/xp/today")["xp"], 18.8);
    let set = sandbox.client().put("/api/lms/xp/today").json(&json!({"xp": 15})).expect(200);
    assert_eq!(set.json::<Value>()["xp"], 15);
    let spent = json!({
        "activityData": {"activityId": "fractions-2", "subject": "Math", "grade": "04"},
        "timingData": {"activeSeconds": 30}, "studentId": "ann",
    });
    sandbox.client().post("/api/lms/time-spent").json(&spent).expect(200);
    assert_eq!(sandbox.get("/api/lms/xp/total"), json!({"totalXp": 15}));
    let history = sandbox.get("/api/lms/xp/history");
    assert_eq!(history["history"].as_array().unwrap().len(), 30);
    assert_eq!(history["history"][29]["xp"], 15);
    assert_eq!(sandbox.get("/api/levels/me")["totalXp"], 18.8, "the game's own");

    // What was told stands on the dashboard of the other server, under the student's own name.
    let today = &set.json::<Value>()["date"];
    let facts = platform.get(&format!(
        "/bridge/analytics/activity?studentId=ann&startDate={today}&endDate={today}",
        today = today.as_str().unwrap()
    ));
    let math = &facts["facts"][today.as_str().unwrap()]["Math"];
    assert_eq!(math["activityMetrics"]["xpEarned"], 15);
    assert_eq!(math["timeSpentMetrics"]["activeSeconds"], 1230);
    let other = json!({"activityData": {"activityId": "a", "subject": "Math", "grade": 4},
        "timingData": {"activeSeconds": 1}, "studentId": "bob"});
    sandbox.client().post("/api/lms/time-spent").json(&other).expect(403);

    // Each record that is taken away is named.
    let collections = [
        ("courseComponent", "rostering/v1p2/courses/components", "rivers-math-4-component"),
        ("resource", "resources/v1p2/resources", "rivers-math-4-resource"),
        (
            "componentResource",
            "rostering/v1p2/courses/component-resources",
            "rivers-math-4-component-resource",
        ),
    ];
    for (kind, path, id) in collections {
        platform.client.delete(&format!("/ims/oneroster/{path}/{id}")).expect(204);
        assert_eq!(missing(&sandbox), [format!("the {kind} '{id}' was deleted")]);
        set_up(&sandbox, "");
        assert_eq!(missing(&sandbox), [""; 0], "a setup creates it");
    }
    platform.client.delete("/bridge/enrollments/unenroll/ann/rivers-math-4").expect(204);
    assert_eq!(missing(&sandbox), ["the enrollment 'ann in rivers-math-4' is missing"]);
    for (kind, path, id) in [
        ("org", "orgs", "river-school"),
        ("user", "users", "ann"),
        ("course", "courses", "rivers-math-4"),
    ] {
        platform.client.delete(&format!("{ROSTERING}/{path}/{id}")).expect(204);
        let named = format!("the {kind} '{id}' was deleted");
        assert!(missing(&sandbox).contains(&named), "{named}");
    }
    sandbox.client().delete("/api/lms/integrations/rivers").expect(204);
    sandbox.client().get("/api/lms/integrations/rivers").expect(404);
    let gone = platform.get("/ims/oneroster/resources/v1p2/resources/rivers-math-4-resource");
    assert_eq!(gone["resource"]["status"], "tobedeleted");
}

#[test]
#[ignore = "rest"]
fn a_local_server_gets_the_student_of_the_sandbox_from_its_setup() {
    let platform = Platform::start();
    let place = Place::new();
    place.write("lyceum.config.json", CONFIG);
    let id = platform.place.variable("TRACKING_API_CLIENT_ID").unwrap();
    let secret = platform.place.variable("TRACKING_API_CLIENT_SECRET").unwrap();
    let place = place.with("TIMEBACK_API_CLIENT_ID", id).with("TIMEBACK_API_CLIENT_SECRET", secret);
    let flags = format!("--tracking-local --tracking-oneroster-url {}", platform.served.base);
    let sandbox = Running::start(&place, &flags);
    assert_eq!(sandbox.printed["learning"], "local");
    let refused: Value = sandbox.client().get("/api/users/me").expect(404).json();
    assert!(refused["error"]["message"].as_str().unwrap().contains("no active user 'demo-user'"));
    set_up(&sandbox, "");
    assert_eq!(missing(&sandbox), [""; 0]);
    assert_eq!(end(&sandbox, "one", 200)["xpAwarded"], 12.5);
    drop(sandbox); // as a crash
    let sandbox = Running::start(&place, &flags);
    assert_eq!(end(&sandbox, "one", 200)["xpAwarded"], 12.5, "was told before");
    assert_eq!(sandbox.get("/api/lms/xp/total"), json!({"totalXp": 12.5}));
    drop(sandbox);

    // In another role the same user learns nothing; a course that is named is read from there.
    let flags = format!("{flags} --memory --config-path other --tracking-role teacher");
    let place = place.with("SANDBOX_TRACKING_COURSE_ID", "rivers-math-4");
    std::fs::create_dir(place.path().join("other")).unwrap();
    let sandbox = Running::start(&place, &flags);
    assert_eq!(sandbox.get("/api/users/me")["lms"]["role"], "teacher");
    let taught = sandbox.get("/api/lms/integrations/other");
    assert_eq!(taught["courses"][0]["courseId"], "rivers-math-4");
    assert_eq!(taught["courses"][0]["totalXp"], 500);
    end(&sandbox, "three", 403);
    drop(sandbox);

    // A sandbox is a Lyceum, too, and needs no credentials.
    let other = Running::start(&Place::new(), "--memory");
    let place = Place::new();
    place.write("lyceum.config.json", CONFIG);
    let url = other.printed["url"].as_str().unwrap();
    let flags = format!(
        "--memory --timeback-local --timeback-oneroster-url {url}/ims/oneroster/ \
         --timeback-caliper-url {url}/caliper/event --timeback-student-id zoe --timeback-role student \
         --timeback-org-id south --timeback-org-name South --timeback-org-type district"
    );
    let sandbox = Running::start(&place, &flags);
    let setup =
        json!({"gameId": "rivers", "courses": [{"subject": "Math", "grade": 4, "totalXp": 5}]});
    let created = sandbox.client().post("/api/lms/setup").json(&setup).expect(200).json::<Value>();
    let south = json!({"id": "south", "name": "South", "type": "district"});
    assert_eq!(created["organization"], south);
    end(&sandbox, "one", 200);
    let me = &sandbox.get("/api/users/me")["lms"];
    assert_eq!((&me["id"], &me["organizations"][0]["name"]), (&json!("zoe"), &json!("South")));
    assert_eq!(sandbox.get("/api/lms/xp/total"), json!({"totalXp": 12.5}));
    let zoe = Http::without_token(&url.replace("localhost", "127.0.0.1"));
    let zoe = zoe.send("get", &format!("{ROSTERING}/users/zoe"), None).json();
    assert_eq!(zoe["user"]["givenName"], "Demo");
}

/// The record of a kind on the platform; none where there is none.
fn record(platform: &Platform, path: &str, kind: &str) -> Option<Value> {
    let answer = platform.client.get(&format!("/ims/oneroster/{path}")).send();
    (answer.status == 200).then(|| answer.json::<Value>()[kind].clone())
}

#[test]
#[ignore = "rest"]
fn a_setup_on_a_remote_platform_changes_only_records_that_a_setup_created() {
    let platform = Platform::start().with_ann();
    let course = json!({"course": {"sourcedId": "algebra", "title": "Algebra of the school",
        "courseCode": "ALG", "subjects": ["Math"], "grades": ["09"], "org": {"sourcedId": "hill"},
        "metadata": {"metrics": {"totalXp": 7}}}});
    platform.client.post(&format!("{ROSTERING}/courses")).json(&course).expect(201);
    let part = json!({"courseComponent": {"sourcedId": "algebra-component", "title": "Chapter 1",
        "sortOrder": 9, "course": {"sourcedId": "algebra"}}});
    platform.client.post(&format!("{ROSTERING}/courses/components")).json(&part).expect(201);
    let course = || record(&platform, "rostering/v1p2/courses/algebra", "course").unwrap();
    let component = || {
        let path = "rostering/v1p2/courses/components/algebra-component";
        record(&platform, path, "courseComponent").unwrap()
    };
    let hill = || record(&platform, "rostering/v1p2/orgs/hill", "org").unwrap();
    let before = (course(), component(), hill());

    let sandbox = Running::start(&platform.place, "--memory");
    let set_up = |xp: u32| {
        let setup = json!({"gameId": "rivers",
        "organization": {"id": "hill", "name": "Stolen", "type": "school"},
        "courses": [
            {"subject": "Math", "grade": 4, "totalXp": xp, "courseId": "algebra"},
            {"subject": "Math", "grade": 5, "totalXp": xp},
        ]});
        sandbox.client().post("/api/lms/setup").json(&setup).expect(200);
    };
    let own = || record(&platform, "rostering/v1p2/courses/rivers-math-5", "course").unwrap();
    let resource =
        || record(&platform, "resources/v1p2/resources/algebra-resource", "resource").unwrap();
    for xp in [500, 600] {
        set_up(xp);
        assert_eq!((course(), component(), hill()), before, "the platform had them before");
        assert_eq!(own()["metadata"]["metrics"]["totalXp"], xp, "its own is brought up to date");
        assert_eq!(resource()["metadata"]["xp"], xp, "what was missing is made, and its own, too");
    }

    sandbox.client().delete("/api/lms/integrations/rivers").expect(204);
    assert_eq!((course(), component(), hill()), before, "the platform had them before");
    assert_eq!(own()["status"], "tobedeleted");
    assert_eq!(resource()["status"], "tobedeleted");
    set_up(700);
    assert_eq!((own()["status"].as_str(), course()), (Some("active"), before.0));
    // A record that is deleted and not the game's stays so.
    platform
        .client
        .delete(&format!("{ROSTERING}/courses/components/algebra-component"))
        .expect(204);
    set_up(800);
    assert_eq!(component()["status"], "tobedeleted");
    assert_eq!(resource()["metadata"]["xp"], 800);
}

#[test]
#[ignore = "rest"]
fn an_unreachable_platform_is_reported() {
    let platform = Platform::start().with_ann();
    let refusal = |place: &Place, flags: &str| {
        let sandbox = Running::start(place, &format!("--memory {flags}"));
        assert_eq!(sandbox.get("/api/games/rivers")["slug"], "rivers", "the rest works");
        let refused: Value = sandbox.client().get("/api/lms/xp/total").expect(503).json();
        assert_eq!(refused["error"]["code"], "UNAVAILABLE");
        refused["error"]["message"].as_str().unwrap().to_owned()
    };
    let Platform { served, place, .. } = platform;
    // One that may read rosters and nothing else.
    let readonly = "https://purl.imsglobal.org/spec/or/v1p2/scope/roster-core.readonly";
    let key = served.client("platform", &[readonly]);
    let flags = format!("--tracking-client-id {} --tracking-client-secret {}", key.id, key.secret);
    let narrow = refusal(&place, &flags);
    assert!(narrow.contains("refused access; give the client the scope"), "{narrow}");

    let place = place.with("TRACKING_API_CLIENT_SECRET", "wrong");
    let wrong = refusal(&place, "");
    assert!(wrong.contains("refused the credentials of the client"), "{wrong}");
    assert!(!wrong.contains("'wrong'"), "{wrong}");

    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let bare = Place::new();
    bare.write("lyceum.config.json", CONFIG);
    let nobody =
        refusal(&bare, &format!("--tracking-local --tracking-oneroster-url http://{closed}"));
    assert!(nobody.contains("cannot be reached"), "{nobody}");

    let page = pages();
    let flags = format!("--tracking-oneroster-url {} --tracking-auth-url {page}", served.base);
    let paged = refusal(&place, &flags);
    assert!(paged.contains("answered with a page") && paged.contains("port"), "{paged}");
}

/// A server that answers everything with a page.
pub(crate) fn pages() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.read(&mut [0; 4096]);
            let page = "<!doctype html><title>Shop</title>";
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close";
            let _ = write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{page}", page.len());
        }
    });
    url
}
