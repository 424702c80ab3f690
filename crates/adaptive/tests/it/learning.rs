//! Students at work in lessons, with answers that arrive late, twice, or from another tab.

use lyceum_adaptive::attempt::LessonContext;
use lyceum_adaptive::student_lessons::{
    self as lessons, AnswerReplyDraft, LessonDraft, StudentAnswer,
};
use lyceum_core::ProblemKind::{Conflict, Invalid};
use lyceum_core::Result;
use lyceum_store::Tx;
use serde_json::{Value, json};

use crate::school::{School, Student, both, one, refused, request, shown};

/// An answer to a question of a lesson.
fn answer(id: &str, lesson: &Value, question: &Value, choice: &str) -> Value {
    json!({
        "id": id, "attempt": lesson["attempt"]["key"], "question": question["id"],
        "number": question["number"], "responses": { "RESPONSE": choice },
    })
}

impl Student<'_> {
    /// Changes a lesson; answers it as the student sees it then.
    fn change(
        self,
        lesson: &str,
        work: impl FnOnce(&mut Tx<'_>, &LessonContext<'_>) -> Result<()>,
    ) -> Result<Value> {
        let draft = self.school.write(|tx, context| {
            work(tx, context)?;
            lessons::open(tx, context, self.id, lesson)
        });
        draft.and_then(LessonDraft::render).map(shown)
    }

    fn open(self, lesson: &str) -> Value {
        self.change(lesson, |_, _| Ok(())).unwrap()
    }

    fn start(self, lesson: &str) -> Value {
        let start = request(json!({ "after": 0 }));
        self.change(lesson, |tx, context| lessons::start(tx, context, self.id, lesson, &start))
            .unwrap()
    }

    fn step(self, lesson: &str) -> Result<Value> {
        self.change(lesson, |tx, context| lessons::next(tx, context, self.id, lesson))
    }

    fn send(self, lesson: &str, sent: &Value) -> Result<Value> {
        let answer = request(sent.clone());
        self.draft(lesson, &answer)?.render().map(shown)
    }

    fn draft(self, lesson: &str, answer: &StudentAnswer) -> Result<AnswerReplyDraft> {
        self.school.write(|tx, context| lessons::answer(tx, context, self.id, lesson, answer))
    }

    fn close(self, lesson: &str, of: &Value) -> Result<Value> {
        let finish = request(json!({ "attempt": of["attempt"]["key"] }));
        self.change(lesson, |tx, context| lessons::finish(tx, context, self.id, lesson, &finish))
    }

    fn review(self, lesson: &str) -> Result<Value> {
        let draft = self.school.write(|tx, context| lessons::review(tx, context, self.id, lesson));
        draft.and_then(LessonDraft::render).map(shown)
    }

    fn logged(self, lesson: &str) -> Vec<Value> {
        let attempts = self.attempts(lesson).len();
        let entries = self.log(lesson, attempts).into_iter();
        let entries = entries.filter(|entry| entry["answered"].is_object());
        entries.map(|entry| entry["answered"]["responses"]["RESPONSE"].clone()).collect()
    }
}

/// A practice and a quiz of three questions each.
fn prepare(school: &School) {
    school.lesson("practice", "powerpath-100", &["q1", "q2", "q3"], 10.0);
    school.lesson("quiz", "quiz", &["q1", "q2", "q3"], 10.0);
}

#[test]
fn an_answer_to_a_practice_counts_once_however_often_it_arrives() {
    both(|school| {
        prepare(school);
        let amy = school.amy();
        let fresh = amy.open("practice");
        assert_eq!((&fresh["mode"], &fresh["standing"]), (&json!("steps"), &json!("not-started")));
        assert_eq!((&fresh["canStart"], &fresh["attempt"]), (&json!(true), &Value::Null));
        refused(amy.step("practice"), Conflict, "");
        for _ in 0..2 {
            let started = amy.start("practice");
            assert_eq!(started["attempt"]["number"], 1, "a double click starts one attempt");
        }
        let served = amy.step("practice").unwrap();
        assert_eq!(served, amy.step("practice").unwrap());
        assert_eq!(served, amy.open("practice"), "a reload shows the same question");
        let question = &served["questions"][0];
        assert_eq!(question["result"], Value::Null);

        let sent = answer("one", &served, question, "A");
        let draft = amy.draft("practice", &request(sent.clone())).unwrap();
        assert!(draft.log.is_some(), "the next answer does not read the log again");
        let reply = shown(draft.render().unwrap());
        assert_eq!(reply["result"], "correct");
        assert_eq!(reply["question"]["responses"], json!({ "RESPONSE": "A" }));
        assert!(reply["attempt"]["score"].as_f64() > Some(0.0));
        assert_eq!(reply, amy.send("practice", &sent).unwrap(), "the request again");
        let other_tab = answer("two", &served, question, "A");
        assert_eq!(reply, amy.send("practice", &other_tab).unwrap(), "the answer again");
        refused(amy.send("practice", &answer("three", &served, question, "B")), Conflict, "");
        assert_eq!(amy.logged("practice"), ["A"]);
        assert_eq!(amy.progress("practice")["score"], reply["attempt"]["score"]);

        let later = amy.step("practice").unwrap();
        assert_eq!(later["questions"][0]["number"], 1);
        let wrong = answer("four", &later, &later["questions"][0], "B");
        assert_eq!(amy.send("practice", &wrong).unwrap()["result"], "wrong");
        let late = amy.send("practice", &sent).unwrap();
        assert_eq!(reply["question"], late["question"], "a late repetition");
        assert_eq!(amy.logged("practice"), ["A", "B"]);
        let seen = amy.review("practice").unwrap();
        let results = seen["questions"].as_array().unwrap().iter().map(|one| &one["result"]);
        assert_eq!(results.collect::<Vec<_>>(), ["correct", "wrong"]);

        // After a reset, answers to the earlier round are refused.
        amy.reset("practice");
        let fresh = amy.step("practice").unwrap();
        assert_ne!(fresh["attempt"]["key"], served["attempt"]["key"]);
        refused(amy.send("practice", &sent), Conflict, "");
        assert_eq!(amy.logged("practice"), [] as [Value; 0]);
    });
}

#[test]
fn a_quiz_is_answered_reviewed_and_finished_only_once() {
    both(|school| {
        prepare(school);
        let amy = school.amy();
        let quiz = amy.start("quiz");
        let questions = quiz["questions"].as_array().unwrap();
        assert_eq!((&quiz["mode"], questions.len()), (&json!("whole"), 3));
        let reply = amy.send("quiz", &answer("a", &quiz, &questions[0], "B")).unwrap();
        let shown = (&reply["result"], &reply["attempt"]["score"]);
        assert_eq!(shown, (&Value::Null, &Value::Null), "no result yet");
        amy.send("quiz", &answer("b", &quiz, &questions[0], "A")).unwrap();
        amy.send("quiz", &answer("a", &quiz, &questions[0], "B")).unwrap();
        assert_eq!(amy.logged("quiz"), ["B", "A"], "a late repetition changes nothing");
        assert_eq!(amy.open("quiz")["questions"][0]["responses"], json!({ "RESPONSE": "A" }));
        refused(amy.close("quiz", &quiz), Invalid, "");
        for (id, question) in ["c", "d"].into_iter().zip(&questions[1..]) {
            amy.send("quiz", &answer(id, &quiz, question, "A")).unwrap();
        }
        refused(amy.review("quiz"), Conflict, ""); // results come at the end
        let done = amy.close("quiz", &quiz).unwrap();
        assert_eq!((&done["standing"], &done["attempt"]["score"]), (&json!("done"), &json!(100.0)));
        assert_eq!(done["attempt"]["xp"], 12.5);
        assert_eq!(done, amy.close("quiz", &quiz).unwrap());
        refused(amy.send("quiz", &answer("e", &quiz, &questions[0], "B")), Conflict, "");
        assert_eq!(amy.review("quiz").unwrap()["questions"].as_array().unwrap().len(), 3);
        amy.has_earned(12.5);
    });
}

#[test]
fn an_answer_is_never_counted_for_the_student_who_signed_in_later() {
    one(|school| {
        prepare(school);
        school.enroll("bob", "math");
        let (amy, bob) = (school.amy(), school.bob());
        let quiz = amy.start("quiz");
        bob.start("quiz");
        let sent = answer("one", &quiz, &quiz["questions"][0], "A");
        refused(bob.send("quiz", &sent), Conflict, "");
        assert_eq!(bob.open("quiz")["questions"][0]["responses"], Value::Null);
        amy.send("quiz", &sent).unwrap();
    });
}

#[test]
fn a_late_answer_is_not_counted_for_the_same_question_asked_again() {
    one(|school| {
        school.lesson("single", "powerpath-100", &["q1"], 10.0);
        let amy = school.amy();
        amy.start("single");
        let served = amy.step("single").unwrap();
        let late = |id: &str, choice: &str| answer(id, &served, &served["questions"][0], choice);
        amy.send("single", &late("one", "B")).unwrap();
        let again = amy.step("single").unwrap();
        assert_eq!(
            (&again["questions"][0]["id"], &again["questions"][0]["number"]),
            (&json!("q1"), &json!(1))
        );
        refused(amy.send("single", &late("two", "A")), Conflict, "already answered");
        amy.send("single", &late("three", "B")).unwrap();
        assert_eq!(amy.logged("single"), ["B"]);
    });
}
