//! The courses and the first page of a student, on both stores.

use lyceum_adaptive::attempt::LessonContext;
use lyceum_adaptive::screens::home::{self, StudentHome};
use lyceum_adaptive::student_lessons::{
    self as lessons, FoundLesson, LessonKind, LessonStanding, Material, StudentCourse,
};
use lyceum_adaptive::{LessonType, lesson_plans, teaching, test_assignments};
use lyceum_bridge::school_hours::{self, SchoolHours};
use lyceum_bridge::zone::Zone;
use lyceum_core::time::Timestamp;
use lyceum_core::{ProblemKind, Result, body};
use lyceum_store::Tx;
use lyceum_testkit::records;
use serde_json::json;

use crate::school::{self, ALL, School};

/// Amy learns in the course `math` and Bob in `art`, each with lessons; nobody learns in `latin`.
fn both(test: impl Fn(&School)) {
    school::both(|school| {
        records::course(&school.db, "latin", "s", "latin");
        school.enroll("bob", "art");
        school.unit("math", "numbers", None, 2);
        school.unit("math", "halves", Some("numbers"), 1);
        school.unit("art", "colours", None, 1);
        school.unit("latin", "words", None, 1);
        let film = json!({ "type": "video", "url": "https://films.example.org/1" });
        let placement = json!({ "type": "qti", "subject": "latin", "grades": ["3"] });
        let qti = json!({ "type": "qti" });
        for (id, place, lesson_type, metadata) in [
            ("count", ("numbers", 1), Some("powerpath-100"), &qti),
            ("film", ("halves", 1), None, &film),
            ("quiz", ("halves", 2), Some("quiz"), &qti),
            ("broken", ("halves", 3), None, &json!({ "type": "text" })),
            ("paint", ("colours", 1), Some("quiz"), &qti),
            ("latin-start", ("words", 1), Some("placement"), &placement),
        ] {
            school.place(id, place, lesson_type, (&format!("t-{id}"), metadata));
        }
        test(school);
    });
}

fn courses(school: &School, student: &str) -> Vec<StudentCourse> {
    school.write(|tx, context| lessons::courses(tx, context.now, student)).unwrap()
}

fn find(school: &School, student: &str, lesson: &str) -> Result<FoundLesson> {
    school.write(|tx, context| lessons::find(tx, context, student, lesson))
}

fn home(school: &School, student: &str, zone: &str) -> StudentHome {
    let zone = Zone::from_name(zone).unwrap();
    school.write(|tx, context| home::read(tx, context, &zone, student)).unwrap()
}

/// Adds an attempt with one answer, which is complete if it says whether it mastered the lesson.
fn attempt(school: &School, lesson: &str, number: i64, at: &str, mastered: Option<bool>) {
    let at = at.parse::<Timestamp>().unwrap().milliseconds();
    let kind = if lesson == "count" { "powerpath-100" } else { "quiz" };
    school.db.write_blocking(|tx| {
        tx.execute(
            "INSERT INTO lesson_attempt (student, lesson, era, attempt, course, lesson_type, policy, bank, seed, \
             base_xp, round, answered, score, correct, total, mastered, started_ms, completed_ms) \
             VALUES ('amy', $1, 0, $2, 'math', $3, 0, 'bank', 7, 10.0, 0, 1, 40.0, 1, 1, $4, $5, $6)",
            &[
                lesson.into(),
                number.into(),
                kind.into(),
                i64::from(mastered == Some(true)).into(),
                at.into(),
                mastered.map(|_| at).into(),
            ],
        )?;
        tx.execute(
            "INSERT INTO lesson_question (attempt, round, number, question, item, served_ms, reason, answered_ms, \
             responses, result, correct, score, points) SELECT id, 0, 0, 0, 'q', $1, '{}', $1, '{}', '{}', 1, 1.0, 40 \
             FROM lesson_attempt WHERE lesson = $2 AND attempt = $3",
            &[at.into(), lesson.into(), number.into()],
        )
    })
    .unwrap();
}

/// The lessons of the first course with their states.
fn standings(school: &School) -> Vec<(String, LessonStanding)> {
    let courses = courses(school, "amy");
    courses[0].lessons().map(|lesson| (lesson.id.clone(), lesson.standing)).collect()
}

#[test]
fn courses_have_units_with_lessons_in_reading_order() {
    both(|school| {
        let courses = courses(school, "amy");
        assert_eq!(courses.len(), 1, "only the courses of the student");
        let units: Vec<&str> = courses[0].units.iter().map(|unit| unit.title.as_str()).collect();
        assert_eq!(units, ["numbers", "numbers · halves"], "units without lessons are left out");
        let kinds: Vec<_> =
            courses[0].lessons().map(|lesson| (lesson.id.as_str(), lesson.kind.clone())).collect();
        let film = LessonKind::Material(Material::Video, "https://films.example.org/1".into());
        assert_eq!(
            kinds,
            [
                ("count", LessonKind::Questions(LessonType::Powerpath100)),
                ("film", film),
                ("quiz", LessonKind::Questions(LessonType::Quiz)),
                ("broken", LessonKind::Unknown),
            ]
        );
    });
}

#[test]
fn a_lesson_shows_how_far_the_student_is() {
    both(|school| {
        use LessonStanding::{Done, NotMastered, NotStarted, Started};
        let all = |states: [LessonStanding; 4]| -> Vec<(String, LessonStanding)> {
            ["count", "film", "quiz", "broken"].map(str::to_owned).into_iter().zip(states).collect()
        };
        assert_eq!(standings(school), all([NotStarted; 4]));
        attempt(school, "count", 1, "2026-03-14T09:00:00Z", None);
        attempt(school, "quiz", 1, "2026-03-14T10:00:00Z", Some(false));
        assert_eq!(standings(school), all([Started, NotStarted, NotMastered, NotStarted]));
        attempt(school, "quiz", 2, "2026-03-14T11:00:00Z", Some(true));
        school.write(|tx, context| lessons::mark_done(tx, context, "amy", "film")).unwrap();
        school.write(|tx, context| lessons::mark_done(tx, context, "amy", "film")).unwrap();
        assert_eq!(standings(school), all([Started, Done, Done, NotStarted]));
        attempt(school, "quiz", 3, "2026-03-14T11:30:00Z", Some(false));
        assert_eq!(standings(school)[2].1, Done, "what was mastered stays mastered");
        let refused =
            school.write(|tx, context| lessons::mark_done(tx, context, "amy", "quiz")).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Invalid);
    });
}

#[test]
fn lessons_of_other_students_are_answered_like_unknown_ones() {
    both(|school| {
        assert_eq!(find(school, "amy", "count").unwrap().course.id, "math");
        let unknown = find(school, "amy", "no-such-lesson").unwrap_err();
        for (student, lesson) in [("amy", "paint"), ("bob", "count"), ("amy", "latin-start")] {
            let refused = find(school, student, lesson).unwrap_err();
            assert_eq!(
                (refused.kind, unknown.kind),
                (ProblemKind::NotFound, ProblemKind::NotFound)
            );
            let same = unknown.message.to_string().replace("no-such-lesson", lesson);
            assert_eq!(refused.message, *same);
        }
        // An assigned placement test is open before any enrollment, to its student alone.
        let assigned = json!({ "student": "amy", "subject": "latin", "grade": "3" });
        school
            .write(|tx, context| {
                let items = [assigned.clone()];
                test_assignments::bulk(tx, &context.moment(), &items, ALL)
            })
            .unwrap();
        assert_eq!(find(school, "amy", "latin-start").unwrap().lesson.id, "latin-start");
        assert!(find(school, "bob", "latin-start").is_err());
        let assigned: Vec<_> = home(school, "amy", "UTC").assigned;
        assert_eq!(
            assigned.iter().map(|one| one.lesson.id.as_str()).collect::<Vec<_>>(),
            ["latin-start"]
        );
        assert!(home(school, "bob", "UTC").assigned.is_empty());
    });
}

#[test]
fn a_due_day_ends_at_midnight_at_the_students_school() {
    both(|school| {
        let hours = SchoolHours::usual("America/New_York");
        school.write(|tx, _| school_hours::set(tx, "s", &hours, ALL)).unwrap();
        let assign = |lesson: &str, expires: &str| {
            let action = json!({ "type": "assign", "lesson": lesson, "expiresAt": expires });
            let request = body::of(json!({ "student": "amy", "action": action })).unwrap();
            school.write(|tx, context| teaching::apply(tx, context, &request, "tess")).unwrap();
        };
        assign("count", "2026-11-30");
        assign("quiz", "2026-11-30T22:00:00Z");
        let items = [
            json!({ "student": "amy", "subject": "latin", "grade": "3", "expiresAt": "2026-06-30" }),
        ];
        let bulk = |tx: &mut Tx<'_>, context: &LessonContext<'_>| {
            test_assignments::bulk(tx, &context.moment(), &items, ALL)
        };
        assert!(school.write(bulk).unwrap().success);
        // Wherever the browser is.
        for zone in ["UTC", "Asia/Taipei"] {
            let assigned = home(school, "amy", zone).assigned;
            let shown = assigned.iter().map(|one| {
                let day = one.last_day.map(|day| day.to_string()).unwrap_or_default();
                (one.lesson.id.as_str(), one.expires.unwrap().to_string(), day)
            });
            let expected = [
                ("count", "2026-12-01T05:00:00.000Z", "2026-11-30"),
                ("quiz", "2026-11-30T22:00:00.000Z", ""),
                ("latin-start", "2026-07-01T04:00:00.000Z", "2026-06-30"),
            ];
            let expected =
                expected.map(|(id, expires, day)| (id, expires.to_owned(), day.to_owned()));
            assert_eq!(shown.collect::<Vec<_>>(), expected);
        }
    });
}

#[test]
fn the_lesson_plan_decides_which_lessons_the_student_has() {
    both(|school| {
        let plan = json!({ "courseId": "math", "userId": "amy" });
        school.write(|tx, context| {
            let new: lesson_plans::LessonPlanInput = body::of(plan.clone())?;
            let (plan, _) = lesson_plans::create(tx, context.now, &new, ALL)?;
            let target = |id: &str| json!({ "type": "resource", "id": id });
            let skip = json!({ "type": "set-skipped", "payload": { "target": target("quiz"), "value": true } });
            let add = json!({ "type": "add-custom-resource", "payload": {
                "resource_id": "r-paint", "parent_component_id": "numbers", "skipped": false } });
            for operation in [skip, add] {
                let sent = json!({ "operation": operation });
                lesson_plans::request_operation(tx, context.now, &plan, &sent, None, ALL)?;
            }
            let applied = lesson_plans::sync(tx, &plan, ALL)?;
            assert!(applied.success, "{applied:?}");
            Ok(())
        })
        .unwrap();
        let ids: Vec<String> = standings(school).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["count", "r-paint", "film", "broken"]);
        assert_eq!(find(school, "amy", "quiz").unwrap_err().kind, ProblemKind::NotFound);
        assert!(find(school, "amy", "r-paint").unwrap().lesson.is_added);
        assert!(find(school, "bob", "r-paint").is_err());
    });
}

#[test]
fn the_next_lesson_is_the_started_one_then_the_first() {
    both(|school| {
        let next = |student| home(school, student, "UTC").next.map(|next| next.lesson.id);
        assert_eq!(next("amy").as_deref(), Some("count"));
        attempt(school, "quiz", 1, "2026-03-13T10:00:00Z", None);
        assert_eq!(next("amy").as_deref(), Some("quiz"));
        assert_eq!(next("bob").as_deref(), Some("paint"));
        for lesson in ["count", "quiz"] {
            attempt(school, lesson, 2, "2026-03-13T11:00:00Z", Some(true));
        }
        assert_eq!(next("amy").as_deref(), Some("film"));
        school.write(|tx, context| lessons::mark_done(tx, context, "amy", "film")).unwrap();
        assert_eq!(next("amy"), None, "the lesson that leads nowhere is not proposed");
    });
}

#[test]
fn a_streak_counts_days_of_the_students_time_zone() {
    both(|school| {
        let streak = |zone| {
            let home = home(school, "amy", zone);
            (home.streak_days, home.is_active_today)
        };
        assert_eq!(streak("UTC"), (0, false));
        attempt(school, "count", 1, "2026-03-11T23:30:00Z", None);
        attempt(school, "quiz", 1, "2026-03-13T10:00:00Z", None);
        assert_eq!(streak("UTC"), (1, false), "yesterday counts while today has no work yet");
        // In Berlin, half past eleven at night of the 11th in UTC is the 12th.
        assert_eq!(streak("Europe/Berlin"), (2, false));
        attempt(school, "quiz", 2, "2026-03-14T10:00:00Z", None);
        assert_eq!((streak("UTC"), streak("Europe/Berlin")), ((2, true), (3, true)));
        let week = home(school, "amy", "UTC").week;
        assert_eq!((week.len(), week[6].0.to_string()), (7, "2026-03-14".to_owned()));
        assert_eq!(home(school, "bob", "UTC").streak_days, 0);
    });
}
