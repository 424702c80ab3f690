//! A class works through a course at once while its server is killed twice: no answer is lost, none
//! counts twice, and what was earned is the same everywhere.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use lyceum_testkit::full_size;
use lyceum_testserver::client::{Reply, TestClient};
use serde_json::{Value, json};

use crate::http::Http;
use crate::served::{Served, Store, rest_on_both_stores};

/// Students that work at the same moment.
const SEATS: usize = 16;
/// Questions of the lesson that follows the score, and of the quiz.
const STEPS: usize = 30;
const QUIZ: usize = 5;
/// The time for which a server may be away.
const AWAY_MAX: Duration = Duration::from_mins(1);
const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";
const GRADEBOOK: &str = "/ims/oneroster/gradebook/v1p2";
const RESOURCES: &str = "/ims/oneroster/resources/v1p2";

rest_on_both_stores!(no_answer_of_a_class_is_lost_or_credited_twice);

/// The class: where its server is now, and how many answers it has taken.
struct Class {
    api: RwLock<TestClient>,
    taken: AtomicUsize,
}

/// The work of a student: acknowledged answers by lesson, and the XP in the replies.
#[derive(Default)]
struct Done {
    answers: BTreeMap<&'static str, Vec<(String, String)>>,
    xp: f64,
}

impl Class {
    /// Calls until the server answers: a client without an answer sends the same again.
    fn call(&self, call: impl Fn(&TestClient) -> Option<Reply>) -> Value {
        let since = Instant::now();
        loop {
            let reply = call(&self.api.read().unwrap());
            match reply {
                Some(reply) if reply.status < 300 => return reply.json(),
                Some(reply) if reply.status != 503 => {
                    panic!("refused with {}: {}", reply.status, reply.text())
                }
                _ => assert!(since.elapsed() < AWAY_MAX, "the server stays away"),
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn get(&self, path: &str) -> Value {
        self.call(|api| api.get(path).try_send().ok())
    }

    fn answer(
        &self,
        student: &str,
        lesson: &'static str,
        question: &str,
        done: &mut Done,
    ) -> Value {
        let choice = choice(student, question);
        let body = json!({
            "student": student, "lesson": lesson, "question": question,
            "responses": {"RESPONSE": choice},
        });
        let path = "/powerpath/updateStudentQuestionResponse";
        let answered = self.call(|api| api.put(path).json(&body).try_send().ok());
        self.taken.fetch_add(1, Ordering::SeqCst);
        done.answers.entry(lesson).or_default().push((question.to_owned(), choice.to_owned()));
        answered
    }

    /// A student works through both lessons.
    fn learn(&self, student: &str) -> Done {
        let mut done = Done::default();
        let next = format!("/powerpath/getNextQuestion?student={student}&lesson=steps");
        loop {
            let question = self.get(&next)["question"]["id"].as_str().unwrap().to_owned();
            let reply = self.answer(student, "steps", &question, &mut done);
            if reply["powerpathScore"] == 100.0 {
                done.xp += reply["xp"].as_f64().unwrap();
                break;
            }
        }
        let progress = format!("/powerpath/getAssessmentProgress?student={student}&lesson=quiz");
        for question in self.get(&progress)["questions"].as_array().unwrap() {
            self.answer(student, "quiz", question["id"].as_str().unwrap(), &mut done);
        }
        let body = json!({"student": student, "lesson": "quiz"});
        let finish = "/powerpath/finalStudentAssessmentResponse";
        self.call(|api| api.post(finish).json(&body).try_send().ok());
        done.xp += self.get(&progress)["xp"].as_f64().unwrap();
        done
    }

    /// Checks that the stored work of a student is the acknowledged work.
    fn check(&self, student: &str, done: &Done) {
        for (lesson, answers) in &done.answers {
            let log =
                self.get(&format!("/adaptive/getAttemptLog?student={student}&lesson={lesson}"));
            let kept = log["log"].as_array().unwrap().iter().map(|entry| {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                (text(&entry["item"]), text(&entry["answered"]["responses"]["RESPONSE"]))
            });
            assert_eq!(kept.collect::<Vec<_>>(), *answers, "{student} in {lesson}");
        }
        let filter = format!("student.sourcedId%3D'{student}'");
        let results =
            self.get(&format!("{GRADEBOOK}/assessmentResults?limit=1000&filter={filter}"));
        let results = results["assessmentResults"].as_array().unwrap().iter();
        let gradebook: f64 = results.filter_map(|result| result["metadata"]["xp"].as_f64()).sum();
        let events =
            self.get(&format!("/caliper/events?limit=100&actorEmail={student}%40example.org"));
        let events = events["events"].as_array().unwrap().iter();
        let events: f64 = events.map(xp_of_event).sum();
        let facts = format!(
            "/edubridge/analytics/activity?studentId={student}&startDate=2000-01-01&endDate=2100-01-01"
        );
        let facts: f64 = self.get(&facts)["facts"]
            .as_object()
            .unwrap()
            .values()
            .map(|day| day["Math"]["activityMetrics"]["xpEarned"].as_f64().unwrap())
            .sum();
        assert_eq!(
            json!([gradebook, events, facts]),
            json!([done.xp, done.xp, done.xp]),
            "{student}"
        );
    }
}

fn xp_of_event(event: &Value) -> f64 {
    let items = event["generated"]["items"].as_array().unwrap().iter();
    items
        .filter(|item| item["type"] == "xpEarned")
        .map(|item| item["value"].as_f64().unwrap())
        .sum()
}

/// Every student answers some questions wrong, each others.
fn choice(student: &str, question: &str) -> &'static str {
    let sum: usize = student.bytes().chain(question.bytes()).map(usize::from).sum();
    if sum.is_multiple_of(7) { "B" } else { "A" }
}

pub(crate) fn connect(served: &Served) -> TestClient {
    let key = served.client("platform", &[]);
    let http = Http::sign_in(&served.base, &key, None);
    TestClient::new(&served.base).with_token(http.token())
}

fn no_answer_of_a_class_is_lost_or_credited_twice(store: Store) {
    let size = if full_size() { 200 } else { 24 };
    let served = Served::start(store);
    let api = connect(&served);
    let mut served = Some(served);
    let students: Vec<String> = (0..size).map(|number| format!("student-{number}")).collect();
    prepare(&api, &students);
    let class = Class { api: RwLock::new(api), taken: AtomicUsize::new(0) };
    let (queue, done) = (Mutex::new(students.iter()), Mutex::new(Vec::new()));
    let least = size * (11 + QUIZ);
    thread::scope(|scope| {
        for _ in 0..SEATS {
            scope.spawn(|| {
                loop {
                    let Some(student) = queue.lock().unwrap().next() else { return };
                    let learned = class.learn(student);
                    done.lock().unwrap().push((student, learned));
                }
            });
        }
        for part in 1..=2 {
            while class.taken.load(Ordering::SeqCst) < part * least / 3 {
                thread::sleep(Duration::from_millis(1));
            }
            let mut former = served.take().unwrap();
            former.kill();
            let again = former.again();
            *class.api.write().unwrap() = connect(&again);
            served = Some(again);
        }
    });
    let done = done.into_inner().unwrap();
    for (student, learned) in &done {
        class.check(student, learned);
    }
    // The gradebook was written in narrow ways, and the rows still agree with the records.
    served.unwrap().run(&["admin", "check"]);
    let answers: usize = done.iter().flat_map(|(_, d)| d.answers.values()).map(Vec::len).sum();
    println!("{} students, {answers} answers, 2 kills", done.len());
    assert_eq!((done.len(), answers), (size, class.taken.into_inner()));
}

/// A course with a practice and a quiz, and students who learn in it.
pub(crate) fn prepare(api: &TestClient, students: &[String]) {
    let post = |path: &str, body: Value| {
        api.post(path).json(&body).expect(201);
    };
    let org = json!({"org": {"sourcedId": "school", "name": "School", "type": "school"}});
    post(&format!("{ROSTERING}/orgs"), org);
    let course = json!({"course": {
        "sourcedId": "math", "title": "Maths", "subjects": ["Math"], "org": {"sourcedId": "school"},
    }});
    post(&format!("{ROSTERING}/courses"), course);
    let unit = json!({"courseComponent": {
        "sourcedId": "unit", "title": "Unit", "course": {"sourcedId": "math"}, "sortOrder": 1,
    }});
    post(&format!("{ROSTERING}/courses/components"), unit);
    for (lesson, kind, count) in [("steps", "powerpath-100", STEPS), ("quiz", "quiz", QUIZ)] {
        let ids: Vec<String> = (0..count).map(|number| format!("{lesson}-{number}")).collect();
        for (number, id) in ids.iter().enumerate() {
            post("/assessment-items", item(id, ["easy", "medium", "hard"][number % 3]));
        }
        let references: Vec<Value> =
            ids.iter().map(|id| json!({"identifier": id, "href": format!("items/{id}")})).collect();
        post(
            "/assessment-tests",
            json!({"identifier": lesson, "title": lesson, "qti-test-part": [{
            "identifier": "part", "navigationMode": "linear", "submissionMode": "individual",
            "qti-assessment-section": [{"identifier": "section", "title": "Section", "visible": true,
                "sequence": 1, "qti-assessment-item-ref": references}]}]}),
        );
        let metadata = json!({"type": "qti", "subType": "qti-test", "xp": 10, "url": lesson});
        let resource = json!({"resource": {"sourcedId": format!("r-{lesson}"), "title": lesson,
            "vendorResourceId": lesson, "metadata": metadata}});
        post(&format!("{RESOURCES}/resources"), resource);
        let place = json!({"componentResource": {"sourcedId": lesson, "title": lesson, "sortOrder": 1,
            "courseComponent": {"sourcedId": "unit"}, "lessonType": kind,
            "resource": {"sourcedId": format!("r-{lesson}")}}});
        post(&format!("{ROSTERING}/courses/component-resources"), place);
    }
    for student in students {
        let user = json!({"user": {"sourcedId": student, "enabledUser": true, "givenName": "A",
            "familyName": "B", "email": format!("{student}@example.org"), "roles": [{"roleType": "primary", "role": "student",
                "org": {"sourcedId": "school"}}]}});
        post(&format!("{ROSTERING}/users"), user);
        post(&format!("/edubridge/enrollments/enroll/{student}/math"), json!({}));
    }
}

/// A choice item whose right answer is A.
fn item(id: &str, difficulty: &str) -> Value {
    let xml = format!(
        r#"<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="{id}" title="{id}" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier"><qti-correct-response><qti-value>A</qti-value></qti-correct-response></qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"><qti-default-value><qti-value>0</qti-value></qti-default-value></qti-outcome-declaration>
  <qti-item-body><qti-choice-interaction response-identifier="RESPONSE" max-choices="1"><qti-simple-choice identifier="A">a</qti-simple-choice><qti-simple-choice identifier="B">b</qti-simple-choice></qti-choice-interaction></qti-item-body>
  <qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>
</qti-assessment-item>"#
    );
    json!({"format": "xml", "xml": xml, "metadata": {"difficulty": difficulty}})
}
