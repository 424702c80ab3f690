//! Attempts at lessons: what is asked, what answers count, what they earn, and which are refused.

use lyceum_adaptive::attempt;
use lyceum_adaptive::attempt::LessonContext;
use lyceum_adaptive::{LessonCaches, answer, today};
use lyceum_assessment::Items;
use lyceum_assessment::banks::{self, BankInput};
use lyceum_bridge::school_hours::SchoolHours;
use lyceum_bridge::today::Moment;
use lyceum_bridge::zone::Zone;
use lyceum_core::ProblemKind::{Conflict, Invalid, NotFound};
use lyceum_core::Result;
use lyceum_events::facts::Measure;
use lyceum_store::Tx;
use lyceum_testkit::race;
use serde_json::{Value, json};

use crate::school::{ALL, School, both, one, refused};

const RIGHT: [(&str, &str); 3] = [("q1", "A"), ("q2", "A"), ("q3", "A")];

#[test]
fn eleven_right_answers_complete_a_lesson_and_are_credited_once() {
    both(|school| {
        let amy = school.amy();
        school.lesson("steps", "powerpath-100", &school.choices('n', 12), 10.0);
        let mut asked: Vec<String> = Vec::new();
        for n in 1..=11 {
            let served = amy.next("steps").unwrap();
            assert_eq!(served, amy.next("steps").unwrap(), "asked twice it is the same question");
            let id = served["question"]["id"].as_str().unwrap().to_owned();
            assert!(!asked.contains(&id), "no question repeats while one is unseen");
            let reply = amy.answer("steps", &id, "A");
            assert_eq!(reply, amy.answer("steps", &id, "A"), "sent again it counts once");
            assert_eq!(reply["responseResult"]["isCorrect"], true);
            assert_eq!(
                (&reply["totalQuestions"], &reply["correctQuestions"]),
                (&json!(n), &json!(n))
            );
            assert_eq!(reply["questionResult"]["score"].as_f64(), Some(1.0));
            assert_eq!(reply["testResult"]["score"].as_f64(), reply["powerpathScore"].as_f64());
            assert_eq!(reply["xp"], if n == 11 { json!(12.5) } else { json!(null) });
            asked.push(id);
            if n == 5 {
                school.restart();
            }
        }
        let seen = amy.progress("steps");
        assert_eq!((&seen["score"], &seen["accuracy"]), (&json!(100.0), &json!(100.0)));
        let left = seen["remainingQuestionsPerDifficulty"].as_object().unwrap().values();
        assert_eq!(left.map(|count| count.as_u64().unwrap()).sum::<u64>(), 1);
        let done = amy.next("steps").unwrap();
        assert_eq!((&done["finalized"], &done["xp"]), (&json!(true), &json!(12.5)));
        assert_eq!(done["question"]["id"], asked[10], "the last question with its result");
        assert_eq!(done["question"]["correct"], true);
        let ended = amy.finish("steps").unwrap();
        assert_eq!((&ended["score"], &ended["totalQuestions"]), (&json!(100.0), &json!(11)));
        refused(amy.try_answer("steps", &asked[0], json!("B")), Conflict, "");
        amy.has_earned(12.5);
        assert_eq!(amy.facts(), [12.5, 11.0, 11.0, 1.0]);
        let log = amy.log("steps", 1);
        assert_eq!(
            log.iter().map(|entry| &entry["item"]).collect::<Vec<_>>(),
            asked.iter().collect::<Vec<_>>()
        );
        assert_eq!(log[0]["reason"]["strategy"], "bands");
    });
}

#[test]
fn an_answer_serves_the_next_question_once() {
    both(|school| {
        let amy = school.amy();
        school.lesson("steps", "powerpath-100", &["q1", "q2"], 10.0);
        let first = amy.asked("steps");
        let second = if first == "q1" { "q2" } else { "q1" };
        let logged = || {
            let entry = |entry: &Value| {
                (entry["item"].clone(), entry["answered"]["responses"]["RESPONSE"].clone())
            };
            amy.log("steps", 1).iter().map(entry).collect::<Vec<_>>()
        };
        let reply = amy.answer("steps", &first, "B");
        let served = [(json!(first), json!("B")), (json!(second), json!(null))];
        assert_eq!(logged(), served);
        school.restart();
        assert_eq!(amy.asked("steps"), second);
        assert_eq!(logged(), served, "asking for it writes nothing");
        assert_eq!(amy.answer("steps", &first, "B"), reply, "sent again it counts once");
        // Now the student has been asked both: what comes next is served when it is asked for.
        let reply = amy.answer("steps", second, "B");
        assert_eq!(amy.answer("steps", second, "B"), reply);
        assert_eq!(logged().len(), 2);
        let third = amy.asked("steps");
        assert_eq!(logged()[2], (json!(third), json!(null)));
        assert_eq!(amy.answer("steps", &third, "B")["totalQuestions"], 3);
    });
}

#[test]
fn wrong_answers_step_down_and_a_second_attempt_earns_less() {
    both(|school| {
        let amy = school.amy();
        school.lesson("steps", "powerpath-100", &school.choices('n', 40), 10.0);
        // 0 14 27 39: wrong takes 3 at 39, and 12 of 13 right are 92.30 %.
        let first = amy.walk("steps", &["A", "A", "A", "B"]);
        assert_eq!((&first["powerpathScore"], &first["accuracy"]), (&json!(36.0), &json!(75.0)));
        assert_eq!(amy.attempts("steps")[0]["scoreStatus"], "partially graded");
        refused(amy.begin("steps"), Conflict, "is not complete");
        let last = until_complete(school);
        assert_eq!((&last["multiplier"], &last["xp"]), (&json!(1.0), &json!(10.0)));

        let begin = |now| {
            move |tx: &mut Tx<'_>| {
                let (items, memory) = (Items::default(), LessonCaches::default());
                let base_url = "https://lyceum.example.org";
                let (usual_hours, items, memory) = (&SchoolHours::usual("UTC"), &items, &memory);
                let context =
                    LessonContext { now, base_url, reach: ALL, usual_hours, items, memory };
                attempt::create(tx, &context, "amy", "steps").map(drop)
            }
        };
        let (one, other) = race::at_once(&school.db, begin(school.now()), begin(school.now()));
        assert_eq!([one.is_ok(), other.is_ok()].iter().filter(|is_ok| **is_ok).count(), 1);
        refused(one.and(other), Conflict, "is not complete");
        assert_eq!(amy.attempts("steps")[1]["scoreStatus"], "not submitted");

        let seen = [(); 2].map(|()| {
            let id = amy.asked("steps");
            amy.answer("steps", &id, "B");
            id
        });
        let former = amy.log("steps", 1);
        let is_former = |id: &String| former.iter().any(|entry| entry["item"] == *id);
        assert!(!seen.iter().any(is_former), "unseen ones come first");
        let last = until_complete(school);
        // 11 of 13 right are above 80 %; a second attempt earns half.
        assert_eq!((&last["multiplier"], &last["xp"]), (&json!(0.5), &json!(5.0)), "{last}");
        amy.has_earned(15.0);
    });
}

/// Answers right until the score is 100.
fn until_complete(school: &School) -> Value {
    let replies = std::iter::repeat_with(|| school.amy().walk("steps", &["A"]));
    replies.take(40).find(|reply| reply["powerpathScore"] == 100.0).unwrap()
}

#[test]
fn a_quiz_shows_the_correct_answers_once_it_is_finished() {
    both(|school| {
        let amy = school.amy();
        school.lesson("quiz", "quiz", &["q1", "q2", "q3"], 8.0);
        let start = amy.progress("quiz");
        assert_eq!((&start["finalized"], &start["totalQuestions"]), (&json!(false), &json!(3)));
        assert_eq!(start["questions"].as_array().unwrap().len(), 3);
        refused(amy.next("quiz"), Invalid, "is shown whole");
        let taken = amy.answer("quiz", "q1", "B");
        assert_eq!(taken["questionResult"]["question"], "q1");
        assert!(taken.get("responseResult").is_none(), "nothing is told before the end: {taken}");
        amy.answer("quiz", "q1", "A");
        amy.answer("quiz", "q2", "B");
        refused(amy.finish("quiz"), Invalid, "1 of 3 questions have no answer yet: 'q3'");
        school.restart();
        let going = amy.progress("quiz");
        assert_eq!(going["questions"][0]["response"], "A");
        assert!(going["questions"][0].get("correct").is_none(), "{going}");
        amy.answer("quiz", "q3", "A");
        let done = amy.finish("quiz").unwrap();
        let expected = json!({
            "lessonType": "quiz", "finalized": true, "attempt": 1, "score": 66.66, "xp": 0.0,
            "multiplier": 0.0, "accuracy": 66.66, "correctQuestions": 2, "totalQuestions": 3,
        });
        assert_eq!(done, expected, "every finalise answers the score");
        assert_eq!(amy.finish("quiz").unwrap(), done);
        let told = amy.progress("quiz");
        assert_eq!((&told["score"], &told["accuracy"]), (&json!(66.66), &json!(66.66)));
        let questions = told["questions"].as_array().unwrap();
        let right: Vec<&Value> = questions.iter().map(|question| &question["correct"]).collect();
        assert_eq!(right, [&json!(true), &json!(false), &json!(true)]);
        assert_eq!((&told["xp"], &told["multiplier"]), (&json!(0.0), &json!(0.0)));
        assert_eq!(amy.result(&told["questions"][1]["resultId"])["score"].as_f64(), Some(0.0));
        refused(amy.try_answer("quiz", "q1", json!("B")), Conflict, "");
        amy.has_earned(0.0);
    });
}

#[test]
fn reset_attempts_and_courses_take_back_what_they_earned() {
    both(|school| {
        let amy = school.amy();
        school.lesson("quiz", "quiz", &["q1", "q2", "q3"], 8.0);
        amy.take("quiz", &[("q1", "A"), ("q2", "B"), ("q3", "A")]);
        assert_eq!(amy.begin("quiz").unwrap(), 2);
        amy.take("quiz", &RIGHT);
        amy.has_earned(8.0);
        let first = amy.try_progress("quiz", Some(1)).unwrap();
        assert_eq!((&first["attempt"], &first["score"]), (&json!(1), &json!(66.66)));
        refused(amy.try_progress("quiz", Some(3)), NotFound, "");
        // Earned again, the XP count once.
        amy.reset("quiz");
        amy.has_earned(0.0);
        assert_eq!(amy.attempts("quiz")[1]["scoreStatus"], "not submitted");
        amy.take("quiz", &RIGHT);
        school.restart();
        amy.has_earned(8.0);
        assert!(amy.reset_course("math") > 0);
        amy.has_earned(0.0);
        assert_eq!(amy.attempts("quiz"), [] as [Value; 0]);
        amy.take("quiz", &RIGHT);
        assert_eq!(amy.attempts("quiz")[0]["xp"], 10.0, "it is the first attempt again");
        amy.has_earned(10.0);
        // Also when the lesson has gone.
        school.delete("courses/component-resources", "quiz");
        amy.reset_course("math");
        amy.has_earned(0.0);
    });
}

#[test]
fn mastering_a_lesson_again_is_no_other_unit_in_gradebook_and_facts() {
    one(|school| {
        let amy = school.amy();
        school.lesson("quiz", "quiz", &["q1"], 8.0);
        for attempt in 1..=3 {
            amy.take("quiz", &[("q1", "A")]);
            assert_eq!((amy.sum("masteredUnits"), amy.facts()[3]), (1.0, 1.0), "attempt {attempt}");
            assert_eq!(amy.begin("quiz").unwrap(), attempt + 1);
        }
    });
}

#[test]
fn every_refusal_names_its_reason() {
    one(|school| {
        let (amy, bob) = (school.amy(), school.bob());
        school.lesson("quiz", "quiz", &["q1", "q2"], 8.0);
        school.lesson("steps", "powerpath-100", &["q1", "q2"], 1.0);
        school.lesson_of("text", None, "t", json!({}));
        let nobody = crate::school::Student { id: "nobody", ..amy };
        refused(nobody.try_progress("quiz", None), NotFound, "no student 'nobody'");
        refused(amy.try_progress("nothing", None), NotFound, "no lesson 'nothing'");
        refused(bob.try_progress("quiz", None), Invalid, "not enrolled in the course 'math'");
        refused(amy.try_progress("text", None), Invalid, "is not a lesson");
        refused(amy.try_answer("quiz", "q3", json!("A")), Invalid, "is not in the lesson 'quiz'");
        refused(amy.try_answer("quiz", "q1", json!("C")), Invalid, "RESPONSE");
        refused(amy.try_answer("steps", "q1", json!("A")), Conflict, "getNextQuestion");
        refused(amy.finish("steps"), Invalid, "score 100");
        let send = |members: Value| -> Result<()> {
            let request = lyceum_core::body::of(members)?;
            school.write(|tx, context| answer::answer(tx, context, &request)).map(drop)
        };
        let with = |responses: Value| json!({ "student": "amy", "lesson": "quiz", "question": "q1", "responses": responses });
        refused(send(with(Value::Null)), Invalid, "");
        refused(send(with(json!({ "X": "A" }))), Invalid, "X");
    });
}

#[test]
fn a_lesson_without_a_type_whose_resource_is_a_test_or_a_bank_is_an_adaptive_quiz() {
    both(|school| {
        let amy = school.amy();
        for name in ["t1", "t2"] {
            school.test_with(name, "", &["q1", "q2"]);
        }
        let bank = json!({ "identifier": "turns", "title": "Turns", "tests": ["t1", "t2"] });
        let bank = lyceum_assessment::parse(bank.to_string().as_bytes()).and_then(BankInput::read);
        school.write(|tx, context| banks::create(tx, context.now, bank.as_ref().unwrap())).unwrap();
        let url = json!({ "type": "qti", "url": "https://c.example/assessment-tests/t2" });
        for (id, test, metadata) in [
            ("by-id", "t1", json!({ "type": "qti", "xp": 5 })),
            ("by-url", "x", url),
            ("by-bank", "turns", json!({ "type": "qti" })),
            ("by-name", "t1", json!({})),
        ] {
            school.lesson_of(id, None, test, metadata);
            assert_eq!(amy.next(id).unwrap()["score"], 0.0, "{id}");
            assert_eq!(amy.progress(id)["lessonType"], "powerpath-100", "{id}");
        }
        for (id, test, kind) in
            [("film", "t1", "video"), ("item", "q1", "qti"), ("later", "t3", "qti")]
        {
            school.lesson_of(id, None, test, json!({ "type": kind }));
            refused(amy.next(id), Invalid, "is not a lesson: it has no lessonType");
        }
        assert_eq!(crate::placement::subject_progress(amy)[0]["totalLessons"], 4);
        // The test may be stored after the lesson.
        school.test_with("t3", "", &["q1"]);
        amy.next("later").unwrap();
        assert_eq!(crate::placement::subject_progress(amy)[0]["totalLessons"], 5);
    });
}

#[test]
fn today_counts_the_answers_of_unfinished_lessons() {
    both(|school| {
        let amy = school.amy();
        school.lesson("steps", "powerpath-100", &["q1", "q2", "q3"], 8.0);
        school.lesson("quiz", "quiz", &["q1", "q2"], 8.0);
        amy.walk("steps", &["A", "B"]);
        amy.answer("quiz", "q1", "A");
        amy.answer("quiz", "q1", "B");
        let counted = || {
            let read = school.db.read_blocking(|tx| {
                let moment = Moment::usual(school.now(), &Zone::UTC);
                let all = today::students(tx, &moment, ALL)?;
                let (own, subjects) = today::student(tx, &moment, "amy")?;
                Ok((all, own.day, subjects))
            });
            let (all, own, subjects) = read.unwrap();
            let all = all.into_iter().find(|day| day.learner.id == "amy").unwrap();
            assert_eq!((all.sums.measures, all.last.is_some()), (own.sums.measures, true));
            let math = subjects.iter().find(|day| day.subject == "Math").unwrap();
            assert_eq!(math.sums.measures, own.sums.measures);
            let measured = |measure| own.sums.of(measure) / 1000;
            (measured(Measure::TotalQuestions), measured(Measure::CorrectQuestions))
        };
        assert_eq!(counted(), (3, 1), "of the quiz the last answer to its question counts");
        // Complete, the event of the quiz counts it, once.
        amy.answer("quiz", "q2", "A");
        assert_eq!(counted(), (4, 2));
        amy.finish("quiz").unwrap();
        assert_eq!(counted(), (4, 2));
    });
}
