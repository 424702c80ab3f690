//! What a student sees of courses and on the first page, on both stores.

use lyceum_adaptive::attempt::LessonContext;
use lyceum_adaptive::screens::home::{self, StudentHome};
use lyceum_adaptive::student_lessons::{
    self as lessons, FoundLesson, LessonKind, LessonStanding, Material, StudentCourse,
};
use lyceum_adaptive::{LessonCaches, LessonType, MIGRATIONS, lesson_plans, test_assignments};
use lyceum_assessment::Items;
use lyceum_bridge::zone::Zone;
use lyceum_core::time::Timestamp;
use lyceum_core::{ProblemKind, Reach, Result, body};
use lyceum_store::{Db, Migration, Tx};
use lyceum_testkit::{both_stores, records};
use serde_json::{Value, json};

fn noon() -> Timestamp {
    "2026-03-14T12:00:00Z".parse().unwrap()
}

/// Ann learns in the course `math` and Ben in `art`, each with lessons; nobody learns in `latin`.
fn both(test: impl Fn(&Db)) {
    let migrations: Vec<Migration> = [
        lyceum_store::MIGRATIONS,
        lyceum_roster::MIGRATIONS,
        lyceum_events::MIGRATIONS,
        lyceum_bridge::MIGRATIONS,
        lyceum_assessment::MIGRATIONS,
        MIGRATIONS,
    ]
    .concat();
    both_stores(&migrations, |target| {
        let db = Db::open(target, &migrations).unwrap();
        records::school(&db, "school", "School");
        for student in ["ann", "ben"] {
            records::student(&db, student, "school", "03");
        }
        for course in ["math", "art", "latin"] {
            records::course(&db, course, "school", course);
            records::class(&db, &format!("{course}-class"), course, "school");
        }
        records::enroll(&db, "ann", "math-class", "school", "student");
        records::enroll(&db, "ben", "art-class", "school", "student");
        unit(&db, "numbers", "math", None, 1);
        unit(&db, "halves", "math", Some("numbers"), 1);
        unit(&db, "empty", "math", None, 2);
        unit(&db, "colours", "art", None, 1);
        unit(&db, "words", "latin", None, 1);
        lesson(&db, "count", ("numbers", 1), Some("powerpath-100"), json!({ "type": "qti" }));
        let film = json!({ "type": "video", "url": "https://films.example.org/1" });
        lesson(&db, "film", ("halves", 1), None, film);
        lesson(&db, "quiz", ("halves", 2), Some("quiz"), json!({ "type": "qti" }));
        lesson(&db, "broken", ("halves", 3), None, json!({ "type": "text" }));
        lesson(&db, "paint", ("colours", 1), Some("quiz"), json!({ "type": "qti" }));
        let placement = json!({ "type": "qti", "subject": "latin", "grades": ["3"] });
        lesson(&db, "latin-start", ("words", 1), Some("placement"), placement);
        test(&db);
    });
}

fn unit(db: &Db, id: &str, course: &str, parent: Option<&str>, order: u32) {
    let mut unit = json!({
        "sourcedId": id, "title": id, "course": { "sourcedId": course }, "sortOrder": order,
    });
    if let Some(parent) = parent {
        unit["parent"] = json!({ "sourcedId": parent });
    }
    records::create(db, "courses/components", &unit);
}

#[expect(clippy::needless_pass_by_value, reason = "callers write the metadata in place")]
fn lesson(
    db: &Db,
    id: &str,
    (unit, order): (&str, u32),
    lesson_type: Option<&str>,
    metadata: Value,
) {
    let resource = format!("r-{id}");
    let record = json!({
        "sourcedId": resource, "title": id, "vendorResourceId": format!("t-{id}"), "metadata": metadata,
    });
    records::create(db, "resources", &record);
    let link = json!({
        "sourcedId": id, "title": format!("Lesson {id}"), "courseComponent": { "sourcedId": unit },
        "resource": { "sourcedId": resource }, "sortOrder": order, "lessonType": lesson_type,
    });
    records::create(db, "courses/component-resources", &link);
}

/// Runs work as the server does for a student.
fn run<T: Send + 'static>(
    db: &Db,
    work: impl Fn(&mut Tx<'_>, &LessonContext<'_>) -> Result<T> + Send + Sync + 'static,
) -> Result<T> {
    let (items, memory) = (Items::default(), LessonCaches::default());
    db.write_blocking(move |tx| {
        let context = LessonContext {
            now: noon(),
            base_url: "https://lyceum.example.org",
            reach: &Reach::Everything,
            items: &items,
            memory: &memory,
        };
        work(tx, &context)
    })
}

fn courses(db: &Db, student: &'static str) -> Vec<StudentCourse> {
    run(db, move |tx, _| lessons::courses(tx, noon(), student)).unwrap()
}

fn find(db: &Db, student: &'static str, lesson: &'static str) -> Result<FoundLesson> {
    run(db, move |tx, context| lessons::find(tx, context, student, lesson))
}

fn home(db: &Db, student: &'static str, zone: &'static str) -> StudentHome {
    let zone = Zone::from_name(zone).unwrap();
    run(db, move |tx, context| home::read(tx, context, &zone, student)).unwrap()
}

/// Adds an attempt with one answer, which is complete if it says whether it mastered the lesson.
fn attempt(db: &Db, lesson: &str, number: i64, at: &str, mastered: Option<bool>) {
    let at = at.parse::<Timestamp>().unwrap().milliseconds();
    let kind = if lesson == "count" { "powerpath-100" } else { "quiz" };
    db.write_blocking(|tx| {
        tx.execute(
            "INSERT INTO lesson_attempt (student, lesson, era, attempt, course, lesson_type, policy, bank, seed, \
             round, answered, score, correct, total, mastered, started_ms, completed_ms) \
             VALUES ('ann', $1, 0, $2, 'math', $3, 0, 'bank', 7, 0, 1, 40.0, 1, 1, $4, $5, $6)",
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
fn standings(db: &Db) -> Vec<(String, LessonStanding)> {
    let courses = courses(db, "ann");
    courses[0].lessons().map(|lesson| (lesson.id.clone(), lesson.standing)).collect()
}

#[test]
fn courses_have_units_with_lessons_in_reading_order() {
    both(|db| {
        let courses = courses(db, "ann");
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
    both(|db| {
        use LessonStanding::{Done, NotMastered, NotStarted, Started};
        let all = |states: [LessonStanding; 4]| -> Vec<(String, LessonStanding)> {
            ["count", "film", "quiz", "broken"].map(str::to_owned).into_iter().zip(states).collect()
        };
        assert_eq!(standings(db), all([NotStarted; 4]));
        attempt(db, "count", 1, "2026-03-14T09:00:00Z", None);
        attempt(db, "quiz", 1, "2026-03-14T10:00:00Z", Some(false));
        assert_eq!(standings(db), all([Started, NotStarted, NotMastered, NotStarted]));
        attempt(db, "quiz", 2, "2026-03-14T11:00:00Z", Some(true));
        run(db, |tx, context| lessons::mark_done(tx, context, "ann", "film")).unwrap();
        run(db, |tx, context| lessons::mark_done(tx, context, "ann", "film")).unwrap();
        assert_eq!(standings(db), all([Started, Done, Done, NotStarted]));
        attempt(db, "quiz", 3, "2026-03-14T11:30:00Z", Some(false));
        assert_eq!(standings(db)[2].1, Done, "what was mastered stays mastered");
        let refused =
            run(db, |tx, context| lessons::mark_done(tx, context, "ann", "quiz")).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Invalid);
    });
}

#[test]
fn lessons_of_other_students_are_answered_like_unknown_ones() {
    both(|db| {
        assert_eq!(find(db, "ann", "count").unwrap().course.id, "math");
        let unknown = find(db, "ann", "no-such-lesson").unwrap_err();
        for (student, lesson) in [("ann", "paint"), ("ben", "count"), ("ann", "latin-start")] {
            let refused = find(db, student, lesson).unwrap_err();
            assert_eq!(
                (refused.kind, unknown.kind),
                (ProblemKind::NotFound, ProblemKind::NotFound)
            );
            let same = unknown.message.replace("no-such-lesson", lesson);
            assert_eq!(refused.message, same);
        }
        // An assigned placement test is open before any enrollment, to its student alone.
        let assigned = json!({ "student": "ann", "subject": "latin", "grade": "3" });
        run(db, move |tx, context| {
            let items = [assigned.clone()];
            test_assignments::bulk(tx, context.now, &items, &Reach::Everything)
        })
        .unwrap();
        assert_eq!(find(db, "ann", "latin-start").unwrap().lesson.id, "latin-start");
        assert!(find(db, "ben", "latin-start").is_err());
        let assigned: Vec<_> = home(db, "ann", "UTC").assigned;
        assert_eq!(
            assigned.iter().map(|one| one.lesson.id.as_str()).collect::<Vec<_>>(),
            ["latin-start"]
        );
        assert!(home(db, "ben", "UTC").assigned.is_empty());
    });
}

#[test]
fn the_lesson_plan_decides_which_lessons_the_student_has() {
    both(|db| {
        let plan = json!({ "courseId": "math", "userId": "ann" });
        run(db, move |tx, context| {
            let new: lesson_plans::LessonPlanInput = body::of(plan.clone())?;
            let (plan, _) = lesson_plans::create(tx, context.now, &new, &Reach::Everything)?;
            let target = |id: &str| json!({ "type": "resource", "id": id });
            let skip = json!({ "type": "set-skipped", "payload": { "target": target("quiz"), "value": true } });
            let add = json!({ "type": "add-custom-resource", "payload": {
                "resource_id": "r-paint", "parent_component_id": "numbers", "skipped": false } });
            for operation in [skip, add] {
                let sent = json!({ "operation": operation });
                lesson_plans::request_operation(tx, context.now, &plan, &sent, None, &Reach::Everything)?;
            }
            let applied = lesson_plans::sync(tx, &plan, &Reach::Everything)?;
            assert!(applied.success, "{applied:?}");
            Ok(())
        })
        .unwrap();
        let ids: Vec<String> = standings(db).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["count", "r-paint", "film", "broken"]);
        assert_eq!(find(db, "ann", "quiz").unwrap_err().kind, ProblemKind::NotFound);
        assert!(find(db, "ann", "r-paint").unwrap().lesson.is_added);
        assert!(find(db, "ben", "r-paint").is_err());
    });
}

#[test]
fn the_next_lesson_is_the_started_one_then_the_first() {
    both(|db| {
        let next = |student| home(db, student, "UTC").next.map(|next| next.lesson.id);
        assert_eq!(next("ann").as_deref(), Some("count"));
        attempt(db, "quiz", 1, "2026-03-13T10:00:00Z", None);
        assert_eq!(next("ann").as_deref(), Some("quiz"));
        assert_eq!(next("ben").as_deref(), Some("paint"));
        for lesson in ["count", "quiz"] {
            attempt(db, lesson, 2, "2026-03-13T11:00:00Z", Some(true));
        }
        assert_eq!(next("ann").as_deref(), Some("film"));
        run(db, |tx, context| lessons::mark_done(tx, context, "ann", "film")).unwrap();
        assert_eq!(next("ann"), None, "the lesson that leads nowhere is not proposed");
    });
}

#[test]
fn a_streak_counts_days_of_the_students_time_zone() {
    both(|db| {
        let streak = |zone| {
            let home = home(db, "ann", zone);
            (home.streak_days, home.is_active_today)
        };
        assert_eq!(streak("UTC"), (0, false));
        attempt(db, "count", 1, "2026-03-11T23:30:00Z", None);
        attempt(db, "quiz", 1, "2026-03-13T10:00:00Z", None);
        assert_eq!(streak("UTC"), (1, false), "yesterday counts while today has no work yet");
        // In Berlin, half past eleven at night of the 11th in UTC is the 12th.
        assert_eq!(streak("Europe/Berlin"), (2, false));
        attempt(db, "quiz", 2, "2026-03-14T10:00:00Z", None);
        assert_eq!((streak("UTC"), streak("Europe/Berlin")), ((2, true), (3, true)));
        let week = home(db, "ann", "UTC").week;
        assert_eq!((week.len(), week[6].0.to_string()), (7, "2026-03-14".to_owned()));
        assert_eq!(home(db, "ben", "UTC").streak_days, 0);
    });
}
