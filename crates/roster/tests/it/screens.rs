//! Classes, courses and imports in the console.

use lyceum_core::time::Timestamp;
use lyceum_core::{ProblemKind, Reach};
use lyceum_roster::csv::RowOutcome;
use lyceum_roster::imports::{self, NewImport};
use lyceum_roster::kinds;
use lyceum_roster::membership::EnrollmentDays;
use lyceum_roster::repository::{self, MemberCounts};
use lyceum_roster::screens::classes::{self, ClassFilter, ClassList, ListedClass};
use lyceum_roster::screens::courses;
use lyceum_roster::screens::imports::{report, rows};
use lyceum_testkit::records;
use serde_json::json;

use crate::csv_files::now;
use crate::kit::both;

fn titles(classes: &ClassList) -> Vec<&str> {
    classes.shown.iter().map(|class| class.title.as_str()).collect()
}

/// Shows all classes.
fn all(classes: &[ListedClass]) -> (Vec<usize>, usize) {
    ((0..classes.len()).collect(), classes.len())
}

#[test]
fn classes_are_sorted_by_school_and_filtered() {
    both(|db| {
        for (school, subject) in [("north", "Reading"), ("east", "Math")] {
            records::school(db, school, &format!("School {school}"));
            records::course(db, &format!("c-{school}"), school, subject);
            records::class(db, &format!("k-{school}"), &format!("c-{school}"), school);
        }
        records::class(db, "a-north", "c-north", "north");
        records::student(db, "ann", "north", "3");
        records::enroll(db, "ann", "k-north", "north", "student");
        let read = |school: &str, subject: &str| {
            let filter = ClassFilter { school: school.to_owned(), subject: subject.to_owned() };
            let everything = Reach::Everything;
            db.read_blocking(|tx| classes::read(tx, now(), &filter, false, all, &everything))
                .unwrap()
        };
        let found = read("", "");
        assert_eq!(titles(&found), ["Class k-east", "Class a-north", "Class k-north"]);
        assert_eq!(found.schools, ["School east", "School north"]);
        assert_eq!(found.subjects, ["Math", "Reading"]);
        assert_eq!(found.shown[2].members, MemberCounts { students: 1, teachers: 0 });
        assert_eq!(found.shown[2].course_title, "Course c-north");
        for sizes_decide in [false, true] {
            let largest = |classes: &[ListedClass]| {
                let sizes = classes.iter().map(|class| class.members.students);
                assert_eq!(sizes.sum::<i64>(), i64::from(sizes_decide));
                (vec![2, 0], classes.len())
            };
            let filter = ClassFilter::default();
            let read = db.read_blocking(|tx| {
                classes::read(tx, now(), &filter, sizes_decide, largest, &Reach::Everything)
            });
            let found = read.unwrap();
            assert_eq!((titles(&found), found.total), (vec!["Class k-north", "Class k-east"], 3));
            assert_eq!(found.shown[0].members.students, 1);
        }
        let math = read("", "Math");
        assert_eq!((titles(&math), math.subjects.len()), (vec!["Class k-east"], 2));
        assert_eq!(titles(&read("School north", "Math")), [""; 0]);
    });
}

#[test]
fn members_of_a_class_have_an_enrollment_that_is_current_today() {
    both(|db| {
        records::school(db, "s", "School");
        records::course(db, "c", "s", "Math");
        records::class(db, "k", "c", "s");
        let dates = [
            ("always", json!({})),
            ("first-day", json!({ "beginDate": "2026-01-15" })),
            ("last-day", json!({ "endDate": "2026-01-15" })),
            ("begins", json!({ "beginDate": "2026-01-16" })),
            ("ended", json!({ "beginDate": "2025-01-01", "endDate": "2026-01-14" })),
        ];
        for (id, dates) in &dates {
            for (role, user) in [("student", (*id).to_owned()), ("teacher", format!("t-{id}"))] {
                records::student(db, &user, "s", "3");
                let mut enrollment = json!({
                    "sourcedId": format!("e-{user}"), "user": { "sourcedId": user }, "role": role,
                    "class": { "sourcedId": "k" }, "school": { "sourcedId": "s" },
                });
                enrollment.as_object_mut().unwrap().extend(dates.as_object().unwrap().clone());
                records::create(db, "enrollments", &enrollment);
            }
        }
        let now: Timestamp = "2026-01-15T23:59:59Z".parse().unwrap();
        let everything = &Reach::Everything;
        db.read_blocking(|tx| {
            let sizes = repository::class_sizes(tx, now, &["k"], everything)?;
            assert_eq!(sizes["k"], MemberCounts { students: 3, teachers: 3 });
            let mut members: Vec<String> =
                repository::in_class(tx, now, "k", "student", everything)?
                    .into_iter()
                    .map(|member| member.id)
                    .collect();
            members.sort();
            assert_eq!(members, ["always", "first-day", "last-day"]);
            let mut students = repository::students_by_class(tx, now, &["k"])?.remove("k").unwrap();
            students.sort();
            assert_eq!(students, members);
            for (id, _) in &dates {
                let expected = usize::from(members.iter().any(|member| member == id));
                let of_student = repository::classes_of_member(tx, now, id, "student")?;
                assert_eq!(of_student.len(), expected, "{id}");
                let stored = repository::find(tx, &kinds::ENROLLMENT, &format!("e-{id}"))?.unwrap();
                let is_current = EnrollmentDays::of_text(&stored.body)?.is_current("2026-01-15");
                assert_eq!(is_current, expected == 1, "{id}");
                let taught = classes::taught_by(tx, now, &format!("t-{id}"), everything)?;
                assert_eq!(taught.len(), expected, "{id}");
            }
            Ok(())
        })
        .unwrap();
    });
}

#[test]
fn courses_are_sorted_by_title_and_filtered_by_subject() {
    both(|db| {
        records::school(db, "s", "School");
        records::course(db, "b", "s", "Math");
        records::course(db, "a", "s", "Reading");
        records::class(db, "k", "b", "s");
        let read = |subject: &str| {
            db.read_blocking(|tx| courses::read(tx, subject, &Reach::Everything)).unwrap()
        };
        let all = read("");
        let ids: Vec<&str> = all.courses.iter().map(|course| course.id.as_str()).collect();
        assert_eq!(
            (ids, all.subjects),
            (vec!["a", "b"], vec!["Math".to_owned(), "Reading".to_owned()])
        );
        let math = read("Math");
        assert_eq!((math.courses.len(), math.subjects.len()), (1, 2));
        assert_eq!((math.courses[0].org.as_str(), math.courses[0].class_count), ("School", 1));
        let one = db.read_blocking(|tx| courses::one(tx, "b", &Reach::Everything)).unwrap();
        assert_eq!(one, math.courses[0]);
        let missing = db.read_blocking(|tx| courses::one(tx, "c", &Reach::Everything));
        assert_eq!(missing.unwrap_err().kind, ProblemKind::NotFound);
    });
}

#[test]
fn the_report_of_an_import_has_the_outcome_of_each_row() {
    both(|db| {
        let now = Timestamp::from_milliseconds(1_768_464_000_000);
        let new = NewImport {
            name: "roster.zip",
            bytes: 9,
            file: "00",
            who: "ada@example.org",
            reach: &Reach::Everything,
        };
        let id = db.write_blocking(|tx| imports::add(tx, now, &new)).unwrap();
        let mut import = db.read_blocking(|tx| imports::find(tx, id)).unwrap();
        assert_eq!(report(&import).map(drop), None);
        import.report = Some(json!({
            "committed": false, "fault_count": 1, "warning_count": 0, "warnings": [], "ignored": ["notes.txt"],
            "files": [
                { "file": "orgs", "mode": "delta", "rows": 2, "created": 1, "updated": 0,
                  "unchanged": 0, "deleted": 0, "rejected": 1 },
                { "file": "users", "mode": "delta", "rows": 3, "created": 0, "updated": 0,
                  "unchanged": 3, "deleted": 0, "rejected": 0 },
            ],
            "faults": [{
                "file": "orgs.csv", "line": 3, "column": "type", "value": "castle",
                "problem": "is not a type", "remedy": "write school",
            }],
        }));
        let report = report(&import).unwrap();
        assert_eq!((report.row_count(), report.fault_count, report.files.len()), (5, 1, 2));
        assert_eq!(report.faults[0].remedy, "write school");
        assert_eq!(report.ignored, ["notes.txt"]);
        let notes =
            b"file,line,id,came\norgs,2,annex,created\norgs,3,,rejected\nusers,2,ann,unchanged\n";
        let all = rows(&import, notes, "orgs", "").unwrap();
        assert_eq!(all.outcomes, [RowOutcome::Created, RowOutcome::Rejected]);
        let found: Vec<(u64, Option<String>)> = all
            .rows
            .iter()
            .map(|one| (one.row.line, one.problem.as_ref().map(ToString::to_string)))
            .collect();
        assert_eq!(found, [(2, None), (3, Some("is not a type".to_owned()))]);
        let refused = rows(&import, notes, "orgs", "rejected").unwrap();
        assert_eq!((refused.rows.len(), refused.outcomes.len()), (1, 2));
        assert_eq!(
            rows(&import, b"a,b\n1,2\n", "orgs", "").unwrap_err().kind,
            ProblemKind::Internal
        );
    });
}
