//! A school whose students work through lessons. Each step is one transaction, as the server runs it.

use std::cell::{Cell, RefCell};

use lyceum_adaptive::answer::{AnswerRequest, NextStep, served_step};
use lyceum_adaptive::attempt::{self, LessonContext};
use lyceum_adaptive::reply::AnswerReply;
use lyceum_adaptive::repository::log;
use lyceum_adaptive::{LessonCaches, MIGRATIONS, answer, finalize, progress, progress_reset};
use lyceum_assessment::{CheckedDocument, ContentKind, Items, parse, repository as documents};
use lyceum_bridge::analytics::{self, StudentName};
use lyceum_bridge::enroll::{self, EnrollmentRequest};
use lyceum_bridge::enrollments::{self, CourseEnrollment};
use lyceum_bridge::school_hours::SchoolHours;
use lyceum_bridge::zone::{InstantRange, Zone};
use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Reach, Result, body};
use lyceum_events::facts::Measure;
use lyceum_roster::collections;
use lyceum_roster::kinds::ASSESSMENT_RESULT;
use lyceum_roster::render::RecordView;
use lyceum_roster::repository as roster;
use lyceum_store::{Db, Migration, StoreLocation, Tx};
use lyceum_testkit::{both_stores, on_sqlite, records};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(crate) const ALL: &Reach = &Reach::Everything;
const QTI: &str = r#"xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0""#;

pub(crate) struct School {
    pub(crate) db: Db,
    caches: RefCell<(Items, LessonCaches)>,
    /// Each step happens a second after the one before it.
    seconds: Cell<i64>,
}

pub(crate) fn migrations() -> Vec<Migration> {
    [
        lyceum_roster::MIGRATIONS,
        lyceum_events::MIGRATIONS,
        lyceum_bridge::MIGRATIONS,
        lyceum_assessment::MIGRATIONS,
        MIGRATIONS,
    ]
    .concat()
}

/// Runs the test on both stores, in a school with the course `math`, in which amy learns and bob does not, and the
/// course `art` of another school. The course has a unit, and items whose right answer is A: q1 to q3.
pub(crate) fn both(test: impl Fn(&School)) {
    both_stores(&migrations(), |target| test(&School::open(target)));
}

/// [`both`], for rules whose SQL is the same on both stores.
pub(crate) fn one(test: impl FnOnce(&School)) {
    on_sqlite(&migrations(), |target| test(&School::open(target)));
}

/// The members of an answer, as clients read it.
pub(crate) fn shown(answer: impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap()
}

/// A request with these members.
pub(crate) fn request<T: DeserializeOwned + JsonSchema + 'static>(members: Value) -> T {
    body::of(members).unwrap()
}

/// Fails unless the problem is of the kind and its message contains the text.
#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T>, kind: ProblemKind, text: &str) {
    let problem = result.unwrap_err();
    assert_eq!(problem.kind, kind, "{problem:?}");
    let message = format!("{problem:?}");
    assert!(message.contains(text), "{message}");
}

/// The paths of the errors of a refused request.
pub(crate) fn paths(problem: &Problem) -> Vec<&str> {
    problem.details.iter().map(|detail| detail.path.as_str()).collect()
}

pub(crate) fn view() -> RecordView<'static> {
    let dialect = PayloadDialect::Platform;
    RecordView { base_url: "https://lyceum.example.org", dialect, fields: None }
}

impl School {
    fn open(target: &StoreLocation) -> Self {
        let db = Db::open(target, &migrations()).expect("a fresh database opens");
        let school = Self { db, caches: RefCell::default(), seconds: Cell::new(0) };
        for id in ["s", "t"] {
            records::school(&school.db, id, &format!("School {id}"));
        }
        for (id, org, subject) in [("math", "s", "Math"), ("art", "t", "Art")] {
            school.record("courses", json!({
                "sourcedId": id, "title": format!("Course {id}"), "courseCode": id, "grades": ["03"],
                "subjects": [subject], "org": { "sourcedId": org },
            }));
        }
        school.unit("math", "unit", None, 1);
        for student in ["amy", "bob"] {
            records::student(&school.db, student, "s", "03");
        }
        school.enroll("amy", "math");
        for name in ["q1", "q2", "q3"] {
            school.choice(name);
        }
        school
    }

    pub(crate) fn now(&self) -> Timestamp {
        let start: Timestamp = "2026-03-14T12:00:00Z".parse().unwrap();
        start.plus_seconds(self.seconds.get())
    }

    /// Empties all caches, as a restart of the server does.
    pub(crate) fn restart(&self) {
        self.caches.take();
    }

    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&mut Tx<'_>, &LessonContext<'_>) -> Result<T>,
    ) -> Result<T> {
        self.seconds.update(|seconds| seconds + 1);
        let caches = self.caches.borrow();
        let (items, memory) = (&caches.0, &caches.1);
        let (now, base_url) = (self.now(), "https://lyceum.example.org");
        let usual_hours = &SchoolHours::usual("UTC");
        let context = LessonContext { now, base_url, reach: ALL, usual_hours, items, memory };
        self.db.write_blocking(|tx| work(tx, &context))
    }

    pub(crate) fn record(&self, collection: &str, record: Value) {
        records::create(&self.db, collection, &record);
    }

    pub(crate) fn delete(&self, collection: &str, id: &str) {
        let collection = collections::at(collection).unwrap();
        let delete = |tx: &mut Tx<'_>, context: &LessonContext<'_>| {
            lyceum_roster::write::delete(tx, collection, id, context.now, false, None, ALL)
        };
        self.write(delete).unwrap();
    }

    pub(crate) fn unit(&self, course: &str, id: &str, parent: Option<&str>, order: u32) {
        let mut unit = json!({
            "sourcedId": id, "title": id, "course": { "sourcedId": course }, "sortOrder": order,
        });
        if let Some(parent) = parent {
            unit["parent"] = json!({ "sourcedId": parent });
        }
        self.record("courses/components", unit);
    }

    /// Stores the document that a request with these members contains.
    pub(crate) fn document(&self, kind: ContentKind, members: &Value) {
        let object = parse(members.to_string().as_bytes()).unwrap();
        let document = CheckedDocument::read(kind, &object).unwrap();
        self.write(|tx, context| documents::create(tx, context.now, &document)).unwrap();
    }

    /// Stores an item with these declarations, and its body with the response processing.
    pub(crate) fn item(&self, name: &str, declarations: &str, body: &str) {
        let xml = format!(
            r#"<qti-assessment-item {QTI} identifier="{name}" title="Q {name}" time-dependent="false">{declarations}{body}</qti-assessment-item>"#
        );
        let metadata = json!({ "difficulty": "easy", "humanApproved": true });
        self.document(
            ContentKind::Item,
            &json!({ "format": "xml", "xml": xml, "metadata": metadata }),
        );
    }

    /// Stores an easy choice item whose right answer is A.
    pub(crate) fn choice(&self, name: &str) {
        let declarations = r#"<qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier"><qti-correct-response><qti-value>A</qti-value></qti-correct-response></qti-response-declaration><qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>"#;
        let body = r#"<qti-item-body><qti-choice-interaction response-identifier="RESPONSE" max-choices="1"><qti-simple-choice identifier="A">a</qti-simple-choice><qti-simple-choice identifier="B">b</qti-simple-choice></qti-choice-interaction></qti-item-body><qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>"#;
        self.item(name, declarations, body);
    }

    /// Stores choice items with the names of a letter and a number from 0 on.
    pub(crate) fn choices(&self, letter: char, count: usize) -> Vec<String> {
        let names: Vec<String> = (0..count).map(|number| format!("{letter}{number}")).collect();
        for name in &names {
            self.choice(name);
        }
        names
    }

    /// Stores a test of these items, with a session control.
    pub(crate) fn test_with(&self, id: &str, control: &str, items: &[impl AsRef<str>]) {
        let reference =
            |name: &str| format!(r#"<qti-assessment-item-ref identifier="{name}" href="{name}"/>"#);
        let items: String = items.iter().map(|name| reference(name.as_ref())).collect();
        let xml = format!(
            r#"<qti-assessment-test {QTI} identifier="{id}" title="T"><qti-test-part identifier="p" navigation-mode="nonlinear" submission-mode="simultaneous">{control}<qti-assessment-section identifier="s" title="S" visible="true">{items}</qti-assessment-section></qti-test-part></qti-assessment-test>"#
        );
        self.document(ContentKind::Test, &json!({ "format": "xml", "xml": xml }));
    }

    /// A lesson in a unit, at a place in it, about a test or bank, with members of the resource's metadata.
    pub(crate) fn place(
        &self,
        id: &str,
        (unit, order): (&str, u32),
        lesson_type: Option<&str>,
        (test, metadata): (&str, &Value),
    ) {
        let resource = format!("r-{id}");
        let record = json!({
            "sourcedId": resource, "title": id, "vendorResourceId": test, "metadata": metadata,
        });
        self.record("resources", record);
        let link = json!({
            "sourcedId": id, "title": format!("Lesson {id}"), "courseComponent": { "sourcedId": unit },
            "resource": { "sourcedId": resource }, "sortOrder": order, "lessonType": lesson_type,
        });
        self.record("courses/component-resources", link);
    }

    /// A lesson of `math` about the test or bank.
    pub(crate) fn lesson_of(
        &self,
        id: &str,
        lesson_type: Option<&str>,
        test: &str,
        metadata: Value,
    ) {
        self.place(id, ("unit", 1), lesson_type, (test, &metadata));
    }

    /// A lesson of `math` with these items, worth that many XP.
    pub(crate) fn lesson(&self, id: &str, lesson_type: &str, items: &[impl AsRef<str>], xp: f64) {
        self.test_with(&format!("t-{id}"), "", items);
        let metadata = json!({ "type": "qti", "xp": xp, "subject": "Math", "grades": ["3"] });
        self.lesson_of(id, Some(lesson_type), &format!("t-{id}"), metadata);
    }

    pub(crate) fn enroll(&self, student: &str, course: &str) {
        let request = EnrollmentRequest::default();
        let enroll = |tx: &mut Tx<'_>, context: &LessonContext<'_>| {
            enroll::enroll(tx, context.now, student, course, None, &request, ALL).map(drop)
        };
        self.write(enroll).unwrap();
    }

    pub(crate) fn enrollments(&self, student: &str) -> Vec<CourseEnrollment> {
        self.write(|tx, context| enrollments::settled_of_user(tx, context.now, student, ALL))
            .unwrap()
    }

    pub(crate) fn courses(&self, student: &str) -> Vec<String> {
        let enrollments = self.enrollments(student).into_iter();
        enrollments
            .map(|enrollment| shown(enrollment)["course"]["id"].as_str().unwrap().into())
            .collect()
    }

    pub(crate) fn amy(&self) -> Student<'_> {
        Student { school: self, id: "amy" }
    }

    pub(crate) fn bob(&self) -> Student<'_> {
        Student { school: self, id: "bob" }
    }
}

/// A student who works and earns.
#[derive(Clone, Copy)]
pub(crate) struct Student<'a> {
    pub(crate) school: &'a School,
    pub(crate) id: &'static str,
}

impl Student<'_> {
    /// The next question of a lesson, or the result of the finished attempt.
    pub(crate) fn next(self, lesson: &str) -> Result<Value> {
        let next =
            self.school.write(|tx, context| match served_step(tx, context, self.id, lesson)? {
                Some(next) => Ok(next),
                None => answer::next(tx, context, self.id, lesson),
            })?;
        let caches = self.school.caches.borrow();
        let question =
            |draft: lyceum_adaptive::question::QuestionDraft| draft.render(&caches.1).map(shown);
        match next {
            NextStep::Question(next) => {
                Ok(json!({ "score": next.score, "question": question(next.question)? }))
            }
            NextStep::Finished { outcome, last } => {
                let mut finished = shown(outcome);
                finished["question"] = last.map(question).transpose()?.into();
                Ok(finished)
            }
        }
    }

    /// The id of the next question.
    pub(crate) fn asked(self, lesson: &str) -> String {
        self.next(lesson).unwrap()["question"]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn try_answer(self, lesson: &str, question: &str, response: Value) -> Result<Value> {
        let request: AnswerRequest = body::of(json!({
            "student": self.id, "lesson": lesson, "question": question,
            "responses": { "RESPONSE": response },
        }))?;
        let accepted = self.school.write(|tx, context| answer::answer(tx, context, &request))?;
        Ok(shown(AnswerReply::from(accepted)))
    }

    #[track_caller]
    pub(crate) fn answer(self, lesson: &str, question: &str, response: impl Into<Value>) -> Value {
        self.try_answer(lesson, question, response.into()).unwrap()
    }

    /// Answers the questions that are asked, one after the other. Answers the last reply.
    pub(crate) fn walk(self, lesson: &str, responses: &[&str]) -> Value {
        let mut last = Value::Null;
        for response in responses {
            last = self.answer(lesson, &self.asked(lesson), *response);
        }
        last
    }

    pub(crate) fn finish(self, lesson: &str) -> Result<Value> {
        self.school.write(|tx, context| finalize::finalize(tx, context, self.id, lesson)).map(shown)
    }

    /// Answers each of the questions and finishes the lesson.
    pub(crate) fn take(self, lesson: &str, answers: &[(&str, &str)]) -> Value {
        for (question, response) in answers {
            self.answer(lesson, question, *response);
        }
        self.finish(lesson).unwrap()
    }

    pub(crate) fn try_progress(self, lesson: &str, number: Option<u32>) -> Result<Value> {
        let progress = self.school.write(|tx, context| {
            match progress::of_started_attempt(tx, context, self.id, lesson, number)? {
                Some(progress) => Ok(progress),
                None => progress::progress(tx, context, self.id, lesson, number),
            }
        })?;
        progress.render(&self.school.caches.borrow().1).map(shown)
    }

    pub(crate) fn progress(self, lesson: &str) -> Value {
        self.try_progress(lesson, None).unwrap()
    }

    pub(crate) fn begin(self, lesson: &str) -> Result<u32> {
        let created =
            self.school.write(|tx, context| attempt::create(tx, context, self.id, lesson));
        created.map(|(attempt, _)| attempt.number)
    }

    pub(crate) fn reset(self, lesson: &str) {
        self.school.write(|tx, context| attempt::reset(tx, context, self.id, lesson)).unwrap();
    }

    /// Sets the progress in the course back; answers how many results were reset.
    pub(crate) fn reset_course(self, course: &str) -> usize {
        self.school
            .write(|tx, context| progress_reset::reset_course(tx, context, self.id, course))
            .unwrap()
    }

    pub(crate) fn attempts(self, lesson: &str) -> Vec<Value> {
        let list = self.school.write(|tx, context| attempt::list(tx, context, self.id, lesson));
        list.unwrap().iter().map(|attempt| shown(attempt.summary())).collect()
    }

    /// The log of an attempt, counted from 1.
    pub(crate) fn log(self, lesson: &str, attempt: usize) -> Vec<Value> {
        let log = self.school.write(|tx, context| {
            let attempts = attempt::list(tx, context, self.id, lesson)?;
            log::entries(tx, &attempts[attempt - 1])
        });
        log.unwrap().into_iter().map(shown).collect()
    }

    /// XP, questions, right ones and units in all facts.
    pub(crate) fn facts(self) -> [f64; 4] {
        let [from, to] = [0, i64::MAX / 1_000_000].map(Timestamp::from_milliseconds);
        let report = self.school.db.read_blocking(|tx| {
            analytics::activity(
                tx,
                StudentName::Id(self.id),
                InstantRange { from, to },
                &Zone::UTC,
                ALL,
            )
        });
        let report = report.unwrap();
        let metrics = report.facts.values().flat_map(|day| day.values());
        let of = |measure| {
            let sum: i64 = metrics.clone().map(|metrics| metrics.sums.of(measure)).sum();
            f64::from(i32::try_from(sum).unwrap()) / 1000.0
        };
        [Measure::Xp, Measure::TotalQuestions, Measure::CorrectQuestions, Measure::MasteredUnits]
            .map(of)
    }

    /// The active results of the gradebook.
    pub(crate) fn results(self) -> Vec<Value> {
        let results = self.school.db.read_blocking(|tx| {
            roster::referring_to(tx, &ASSESSMENT_RESULT, "student", &[self.id])
        });
        let results = results.unwrap().into_iter();
        let results = results.map(|result| serde_json::from_str::<Value>(&result.body).unwrap());
        results.filter(|result| result["status"] == "active").collect()
    }

    pub(crate) fn result(self, id: &Value) -> Value {
        self.results().into_iter().find(|result| result["sourcedId"] == *id).unwrap()
    }

    /// The sum of a number in the metadata of the active results.
    pub(crate) fn sum(self, name: &str) -> f64 {
        self.results().iter().filter_map(|result| result["metadata"][name].as_f64()).sum()
    }

    /// Fails unless facts and gradebook both have these XP.
    #[track_caller]
    pub(crate) fn has_earned(self, xp: f64) {
        assert_eq!([self.facts()[0], self.sum("xp")], [xp, xp]);
    }
}
