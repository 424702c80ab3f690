//! The students in the console: figures of the whole, and the rows that a filter admits.

use lyceum_adaptive::live::LiveActivity;
use lyceum_adaptive::screens::chosen_class::{ChosenClass, OWN_CLASSES};
use lyceum_adaptive::screens::students::{self, DecidingWork, StudentFilter, StudentList};
use lyceum_adaptive::screens::{my_classes, student, today};
use lyceum_bridge::today::{Moment, Presence, StudentDay};
use lyceum_bridge::zone::Zone;
use lyceum_core::time::Timestamp;
use lyceum_core::{ProblemKind, Reach};
use lyceum_events::facts::{Measure, Metric};
use lyceum_events::learning::{self, Activity, App, Learner, LearningEvent, Metrics, NamedEntity};
use lyceum_store::Db;
use lyceum_testkit::{both_stores, records};
use serde_json::json;
use uuid::Uuid;

use crate::school::migrations;

const BASE: &str = "https://lyceum.example.org";

/// A Saturday, on which no daily goal is due.
fn noon() -> Timestamp {
    "2026-03-14T12:00:00Z".parse().unwrap()
}

fn moment() -> Moment {
    Moment::usual(noon(), &Zone::UTC)
}

/// Two schools; Ann failed a lesson three times today, Ben completed an activity, Cem did nothing.
fn both(body: impl Fn(&Db)) {
    both_stores(&migrations(), |target| {
        let db = Db::open(target, &migrations()).unwrap();
        records::school(&db, "north", "North");
        records::school(&db, "south", "South");
        for (id, school, grade) in
            [("cem", "south", "04"), ("ann", "north", "03"), ("ben", "south", "03")]
        {
            records::student(&db, id, school, grade);
        }
        for number in 1..=3 {
            fail(&db, "ann", number);
        }
        complete(&db, "ben");
        body(&db);
    });
}

/// Adds a complete attempt that did not master the lesson `quiz`, with one question.
fn fail(db: &Db, student: &str, number: i64) {
    let ended = noon().milliseconds() - 60_000 * (10 - number);
    db.write_blocking(|tx| {
        tx.execute(
            "INSERT INTO lesson_attempt (student, lesson, era, attempt, course, lesson_type, policy, \
             bank, seed, base_xp, round, answered, score, correct, total, xp, multiplier, mastered, \
             started_ms, completed_ms) VALUES ($1, 'quiz', 0, $2, 'math', 'quiz', 0, 'bank', 7, 10.0, 0, \
             1, 0.0, 0, 1, 0.0, 0.0, 0, $3, $3)",
            &[student.into(), number.into(), ended.into()],
        )?;
        tx.execute(
            "INSERT INTO lesson_question (attempt, round, number, question, item, served_ms, reason) \
             SELECT id, 0, 1, 0, 'q' || attempt, completed_ms, '{\"strategy\":\"in-order\",\"place\":0}' \
             FROM lesson_attempt WHERE student = $1 AND attempt = $2",
            &[student.into(), number.into()],
        )
    })
    .unwrap();
}

/// Appends the event of an activity: 5 XP, 3 of 4 answers right.
fn complete(db: &Db, student: &str) {
    let named = |id: &str| NamedEntity { id: id.to_owned(), name: id.to_owned() };
    let activity = Activity {
        id: format!("{BASE}/activities/1"),
        subject: "Math".to_owned(),
        app: App { id: None, name: "Abacus".to_owned() },
        course: named("https://app.example.org/courses/1"),
        activity: named("sums"),
    };
    let metric = |measure, value| Metric { measure, value, span: None };
    let metrics = Metrics::Completed {
        id: Uuid::from_u128(2).urn().to_string(),
        attempt: None,
        items: vec![
            metric(Measure::Xp, 5.0),
            metric(Measure::TotalQuestions, 4.0),
            metric(Measure::CorrectQuestions, 3.0),
        ],
        extensions: None,
    };
    let iri = format!("{BASE}/ims/oneroster/rostering/v1p2/users/{student}");
    let at = noon().plus_seconds(-60);
    let id = Uuid::from_u128(1).urn().to_string();
    let event = LearningEvent::new(id, at, Learner::new(iri, ""), activity, metrics);
    db.write_blocking(|tx| learning::append(tx, at, BASE, std::slice::from_ref(&event))).unwrap();
}

fn ids(days: &[StudentDay]) -> Vec<&str> {
    days.iter().map(|day| day.learner.id.as_str()).collect()
}

fn read_students(
    db: &Db,
    moment: &Moment,
    filter: &StudentFilter,
    deciding: DecidingWork,
    show: impl Fn(&[StudentDay]) -> (Vec<usize>, usize),
) -> StudentList {
    let everything = Reach::Everything;
    db.read_blocking(|tx| students::read(tx, moment, filter, deciding, &show, &everything)).unwrap()
}

/// Shows all students.
fn all_days(days: &[StudentDay]) -> (Vec<usize>, usize) {
    ((0..days.len()).collect(), days.len())
}

/// Enrolls the students in a class of the course `math`.
fn enroll(db: &Db, students: &[&str]) {
    records::course(db, "math", "north", "Math");
    records::class(db, "class", "math", "north");
    for student in students {
        records::enroll(db, student, "class", "north", "student");
    }
}

#[test]
fn today_counts_enrolled_students_and_lists_the_filtered_ones() {
    both(|db| {
        for former in ["dan", "eve"] {
            records::student(db, former, "south", "03");
            fail(db, former, 4);
            fail(db, former, 5);
            fail(db, former, 6);
        }
        enroll(db, &["ann", "ben", "cem", "dan"]);
        let ended = json!({ "endDate": "2026-03-13" });
        records::patch(db, "enrollments", "class-dan", &ended).unwrap();
        let read = |rule: &str, school: &str| {
            let filter = today::TodayFilter {
                presence: None,
                rule: rule.to_owned(),
                school: school.to_owned(),
                ..today::TodayFilter::default()
            };
            db.read_blocking(|tx| today::read(tx, &moment(), &filter, &Reach::Everything)).unwrap()
        };
        let all = read("", "");
        assert_eq!((all.counts.all, all.counts.in_need, all.counts.behind), (3, 1, 0));
        assert_eq!(all.schools, ["North"]);
        assert_eq!(all.needs[0].day.learner.id, "ann");
        assert_eq!(all.needs[0].reasons[0].rule.id, "failures");
        for (rule, school, rows) in [("failures", "North", 1), ("idle", "", 0), ("", "South", 0)] {
            let some = read(rule, school);
            assert_eq!(some.needs.len(), rows, "{rule} {school}");
            assert_eq!(
                (some.counts.in_need, some.schools.len()),
                (1, 1),
                "figures are of the whole"
            );
        }
    });
}

#[test]
fn students_are_sorted_by_name_and_filtered_by_school_and_grade() {
    both(|db| {
        let read = |school: &str, grade: &str| {
            let filter = StudentFilter {
                school: school.to_owned(),
                grade: grade.to_owned(),
                ..StudentFilter::default()
            };
            read_students(db, &moment(), &filter, DecidingWork::Nothing, all_days)
        };
        let all = read("", "");
        assert_eq!(ids(&all.shown), ["ann", "ben", "cem"]);
        assert_eq!(
            (all.schools, all.grades),
            (vec!["North".to_owned(), "South".to_owned()], vec!["03".to_owned(), "04".to_owned()])
        );
        assert_eq!(all.shown[1].xp(), 5000);
        assert_eq!(ids(&read("South", "").shown), ["ben", "cem"]);
        assert_eq!(ids(&read("South", "03").shown), ["ben"]);
        enroll(db, &["ben", "cem"]);
        let enrolled = |is_enrolled: bool, deciding: DecidingWork| {
            let filter =
                StudentFilter { is_enrolled: Some(is_enrolled), ..StudentFilter::default() };
            let list = read_students(db, &moment(), &filter, deciding, all_days);
            ids(&list.shown).join(" ")
        };
        for deciding in [DecidingWork::Nothing, DecidingWork::Everything] {
            let found = (enrolled(true, deciding), enrolled(false, deciding));
            assert_eq!(found, ("ben cem".to_owned(), "ann".to_owned()));
        }
    });
}

#[test]
fn the_figures_of_a_page_do_not_depend_on_what_selects_its_students() {
    both(|db| {
        records::course(db, "m", "south", "Math");
        let goal = json!({ "metadata": { "goals": { "dailyXp": 7 } } });
        records::patch(db, "courses", "m", &goal).unwrap();
        records::class(db, "k", "m", "south");
        records::enroll(db, "ben", "k", "south", "student");
        let filter = StudentFilter::default();
        let of_page = |deciding: DecidingWork| {
            let show = |days: &[StudentDay]| {
                let xp: i64 = days.iter().map(StudentDay::xp).sum();
                let goals: i64 = days.iter().map(|day| day.goal_xp).sum();
                let known = (xp > 0, goals > 0);
                let expected = match deciding {
                    DecidingWork::Nothing => (false, false),
                    DecidingWork::Sums => (true, false),
                    DecidingWork::Everything => (true, true),
                };
                assert_eq!(known, expected, "{deciding:?}");
                (vec![2, 1], days.len())
            };
            let list = read_students(db, &moment(), &filter, deciding, show);
            assert_eq!((ids(&list.shown), list.total), (vec!["cem", "ben"], 3));
            format!("{:?}", list.shown)
        };
        let all = of_page(DecidingWork::Everything);
        assert_eq!(of_page(DecidingWork::Sums), all);
        assert_eq!(of_page(DecidingWork::Nothing), all);
    });
}

#[test]
fn a_student_has_sums_by_day_and_subject_and_every_answer() {
    both(|db| {
        let read = |id: &str| {
            db.read_blocking(|tx| student::read(tx, &moment(), id, 7, &Reach::Everything)).unwrap()
        };
        let ben = read("ben");
        assert_eq!((ben.name.as_str(), ben.school.as_str()), ("ben Example", "South"));
        assert_eq!((ben.days.len(), ben.days[6].0.as_str()), (7, "2026-03-14"));
        let sums = [Measure::Xp, Measure::TotalQuestions, Measure::CorrectQuestions]
            .map(|measure| ben.total.of(measure));
        assert_eq!(sums, [5000, 4000, 3000]);
        assert_eq!((ben.days[6].1, ben.days[5].1.events), (ben.total, 0));
        assert_eq!(ben.subjects.into_iter().collect::<Vec<_>>(), [("Math".to_owned(), ben.total)]);
        assert_eq!(ben.today[0].subject, "Math");
        let ann = read("ann");
        let item = |answer: &student::LessonAnswer| answer.served.entry.item.clone();
        assert_eq!(ann.answers.iter().map(item).collect::<Vec<_>>(), ["q3", "q2", "q1"]);
        assert_eq!(ann.answers[0].lesson_title, "quiz", "a lesson without a record");
        assert_eq!(ann.reasons[0].rule.id, "failures");
        let missing =
            db.read_blocking(|tx| student::read(tx, &moment(), "nobody", 7, &Reach::Everything));
        assert_eq!(missing.unwrap_err().kind, ProblemKind::NotFound);
    });
}

#[test]
fn an_attempt_and_an_event_belong_to_the_student() {
    both(|db| {
        let attempt = |id: &str, number: &str| {
            db.read_blocking(|tx| student::attempt(tx, id, "quiz", number, &Reach::Everything))
        };
        let second = attempt("ann", "2").unwrap();
        assert_eq!((second.student.as_str(), second.questions.len()), ("ann Example", 1));
        assert_eq!(second.questions[0].entry.item, "q2");
        for (id, number) in [("ann", "4"), ("ben", "2"), ("ann", "x")] {
            assert_eq!(attempt(id, number).unwrap_err().kind, ProblemKind::NotFound);
        }
        let behind = |subject: &str, from: &str| {
            let selection = student::Selection {
                from: from.to_owned(),
                to: String::new(),
                subject: subject.to_owned(),
            };
            db.read_blocking(|tx| {
                student::events_behind(tx, &moment(), "ben", &selection, &Reach::Everything)
            })
        };
        let today = behind("math", "").unwrap();
        assert_eq!((today.selection.from.as_str(), today.events.len()), ("2026-03-14", 1));
        assert_eq!(today.total.of(Measure::Xp), 5000);
        assert_eq!(behind("Reading", "2026-03-01").unwrap().events.len(), 0);
        assert_eq!(behind("", "2027-01-01").unwrap_err().kind, ProblemKind::Invalid);
        let number = today.events[0].logged.seq;
        let event =
            |id: &str| db.read_blocking(|tx| student::event(tx, id, number, &Reach::Everything));
        assert_eq!(event("ben").unwrap().logged.seq, number);
        assert_eq!(event("ann").unwrap_err().kind, ProblemKind::NotFound);
    });
}

/// A Tuesday on which school goes on.
fn tuesday() -> Moment {
    Moment { now: "2026-03-10T12:00:00Z".parse().unwrap(), ..moment() }
}

#[test]
fn today_groups_students_by_what_they_do_and_home_shows_the_classes_of_a_teacher() {
    both(|db| {
        let now = tuesday().now.milliseconds();
        records::course(db, "math", "north", "Math");
        for class in ["own", "other"] {
            records::class(db, class, "math", "north");
        }
        for (student, class) in [("ann", "own"), ("ben", "own"), ("cem", "other")] {
            records::enroll(db, student, class, "north", "student");
        }
        records::create(
            db,
            "users",
            &serde_json::json!({
                "sourcedId": "tess", "enabledUser": true, "givenName": "Tess", "familyName": "T",
                "email": "Tess@example.org",
                "roles": [{"roleType": "primary", "role": "teacher", "org": {"sourcedId": "north"}}],
            }),
        );
        records::enroll(db, "tess", "own", "north", "teacher");
        // Ann answered just now in a lesson that goes on.
        answer(db, "ann", now - 60_000);
        let read = |presence: Option<Presence>| {
            let filter = today::TodayFilter { presence, ..today::TodayFilter::default() };
            db.read_blocking(|tx| today::read(tx, &tuesday(), &filter, &Reach::Everything)).unwrap()
        };
        let found = |presence| {
            let list = read(Some(presence));
            list.needs.iter().map(|need| need.day.learner.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(found(Presence::Working), ["ann"]);
        assert_eq!(found(Presence::Absent), ["ben", "cem"]);
        let counts = read(None).counts;
        assert_eq!((counts.all, counts.working, counts.idle, counts.absent), (3, 1, 0, 2));
        assert_eq!(counts.in_need, 0, "absent students are not among those who need help");

        let classes_of = |email: &str, reach: &Reach| {
            db.read_blocking(|tx| my_classes::read(tx, &tuesday(), email, reach)).unwrap()
        };
        let teacher = Reach::ClassesOf("tess".to_owned());
        for found in [
            classes_of("tess@example.org", &Reach::Everything),
            classes_of("x@example.org", &teacher),
        ] {
            let own = found.unwrap();
            assert_eq!((own.counts.all, own.counts.working, own.counts.absent), (2, 1, 1));
            let [class] = own.classes.as_slice() else { panic!("{:?}", own.classes) };
            assert_eq!(
                (class.class.id.as_str(), class.counts, class.xp),
                ("own", own.counts, own.xp)
            );
        }
        assert!(classes_of("nobody@example.org", &Reach::Everything).is_none());

        // The numbers of Home lead to lists of the same students.
        let listed = |class: &str, presence, reach: &Reach| {
            let class = ChosenClass { viewer: "tess@example.org".into(), class: class.into() };
            let filter = today::TodayFilter { presence, class, ..today::TodayFilter::default() };
            db.read_blocking(|tx| today::read(tx, &tuesday(), &filter, reach))
        };
        for (class, absent) in
            [(OWN_CLASSES, vec!["ben"]), ("own", vec!["ben"]), ("other", vec!["cem"])]
        {
            let list = listed(class, Some(Presence::Absent), &Reach::Everything).unwrap();
            let found: Vec<&str> =
                list.needs.iter().map(|need| need.day.learner.id.as_str()).collect();
            assert_eq!(found, absent, "{class}");
            assert_eq!(list.counts.absent, absent.len(), "{class}");
            assert_eq!(list.classes.len(), 1, "the viewer chooses from the own classes");
        }
        let hidden = listed("other", None, &teacher).map(drop).unwrap_err();
        assert_eq!(hidden.kind, ProblemKind::NotFound);
        let class = ChosenClass { viewer: String::new(), class: "own".into() };
        let filter = StudentFilter { class, ..StudentFilter::default() };
        let list = read_students(db, &tuesday(), &filter, DecidingWork::Nothing, all_days);
        assert_eq!(ids(&list.shown), ["ann", "ben"]);
        let north = Reach::organizations(["north"]).unwrap();
        assert!(
            classes_of("tess@example.org", &north).is_none(),
            "an address gives no limited guide a class"
        );
    });
}

/// Adds a running attempt with one answer.
fn answer(db: &Db, student: &str, at: i64) {
    db.write_blocking(|tx| {
        tx.execute(
            "INSERT INTO lesson_attempt (student, lesson, era, attempt, course, lesson_type, policy, \
             bank, seed, base_xp, round, answered, score, correct, total, mastered, started_ms, last_ms) \
             VALUES ($1, 'steps', 0, 1, 'math', 'powerpath-100', 0, 'bank', 7, 10.0, 0, 1, 0.0, 0, 0, 0, \
             $2, $2)",
            &[student.into(), at.into()],
        )?;
        tx.execute(
            "INSERT INTO lesson_question (attempt, round, number, question, item, served_ms, reason, \
             answered_ms, responses, result, correct, score, points, share) \
             SELECT id, 0, 0, 0, 'q', $1, '{\"strategy\":\"in-order\",\"place\":0}', $1, '{}', '{}', 1, 1.0, 0, 1000000 \
             FROM lesson_attempt WHERE student = $2 AND lesson = 'steps'",
            &[at.into(), student.into()],
        )
    })
    .unwrap();
}

#[test]
fn an_answer_is_reported_once_to_each_page_that_may_see_the_student() {
    both(|db| {
        let now = noon();
        let north = Reach::organizations(["north"]).unwrap();
        let begin = || db.read_blocking(|tx| LiveActivity::start(tx, now)).unwrap();
        let look = |seen: &LiveActivity, reach: &Reach| {
            let look = |tx: &mut lyceum_store::Tx<'_>| {
                seen.clone().update(
                    tx,
                    now,
                    &[reach.clone(), Reach::ClassesOf("nobody".to_owned())],
                )
            };
            let (next, is_new) = db.read_blocking(look).unwrap();
            assert!(!is_new[1], "each reach has an answer of its own");
            (next, is_new[0])
        };
        let seen = begin();
        assert!(!look(&seen, &Reach::Everything).1, "what happened before is not new");
        answer(db, "ben", now.milliseconds() - 10);
        assert!(!look(&seen, &north).1, "Ben is in the south");
        let (next, is_new) = look(&seen, &Reach::Everything);
        assert!(is_new);
        assert!(!look(&next, &Reach::Everything).1, "it is noticed once");
        answer(db, "ann", now.milliseconds() - 5);
        assert!(look(&next, &north).1);
    });
}
