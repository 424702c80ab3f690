//! Settling runs for all users, page by page, and each enrollment is made once.

use lyceum_bridge::enroll::{self, EnrollmentRequest};
use lyceum_bridge::enrollments;
use lyceum_bridge::limits;
use lyceum_bridge::settle::{self, SettledUsers};
use lyceum_bridge::tracks::{self, SubjectTrackInput, Track};
use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, ProblemKind, Reach};
use lyceum_roster::collections::at;
use lyceum_roster::write::{self, WriteRules};
use lyceum_store::{Db, Tx};
use lyceum_testkit::race;
use serde_json::{Value, json};

use crate::kit::both;

fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn create(db: &Db, path: &str, record: Value) {
    let rules = WriteRules {
        dialect: PayloadDialect::Platform,
        now: instant("2026-01-15"),
        allocate_missing_ids: false,
        reach: Reach::Everything,
    };
    let Value::Object(record) = record else { panic!("{record} is not an object") };
    let collection = at(path).unwrap();
    db.write_blocking(|tx| write::create(tx, collection, record.clone(), &rules)).unwrap();
}

fn school(db: &Db, students: i64) {
    create(db, "orgs", json!({"sourcedId": "s", "name": "School", "type": "school"}));
    create(db, "courses", json!({"sourcedId": "c", "title": "Maths", "org": {"sourcedId": "s"}}));
    for n in 0..students {
        create(
            db,
            "users",
            json!({
                "sourcedId": format!("u{n}"), "enabledUser": true, "givenName": "G",
                "familyName": "F", "grades": ["03"],
                "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}],
            }),
        );
    }
}

/// Settles all users. Returns the number of pages, and the number of pages on which something was due.
fn sweep(db: &Db, now: Timestamp, who: &SettledUsers) -> (usize, usize) {
    let (mut pages, mut expected, mut after) = (0, 0, 0);
    loop {
        let (is_due, next) = db.read_blocking(|tx| settle::find_due(tx, now, who, after)).unwrap();
        pages += 1;
        if is_due {
            expected += 1;
            db.write_blocking(|tx| settle::settle(tx, now, who, after)).unwrap();
        }
        match next {
            Some(next) => after = next,
            None => return (pages, expected),
        }
    }
}

fn courses(db: &Db, now: Timestamp, user: &str) -> Vec<(String, Option<String>)> {
    let listed = db
        .read_blocking(|tx| enrollments::of_user(tx, now, user, &lyceum_core::Reach::Everything))
        .unwrap();
    let listed = listed.expect("nothing is due");
    listed.into_iter().map(|one| (one.course.id, one.begin_date)).collect()
}

fn track(course: &str) -> Track {
    let body = json!({"subject": "Math", "grade": "3", "courseId": course});
    serde_json::from_value::<SubjectTrackInput>(body).unwrap().into()
}

#[test]
fn tracks_and_school_years_apply_without_a_request() {
    both(|db| {
        let students = limits::SETTLE_PAGE_RECORDS + 20;
        school(db, students);
        let spring = instant("2026-03-01");
        db.write_blocking(|tx| tracks::put(tx, &track("c"), &lyceum_core::Reach::Everything))
            .unwrap();
        assert_eq!(sweep(db, spring, &SettledUsers::Everybody), (2, 2));
        assert_eq!(sweep(db, spring, &SettledUsers::Everybody), (2, 0), "once");
        assert_eq!(sweep(db, spring, &SettledUsers::Grade("03".into())), (2, 0));
        let last = format!("u{}", students - 1);
        assert_eq!(courses(db, spring, &last), [("c".into(), Some("2026-03-01".into()))]);
        // The new school year does not enroll a student again who left.
        db.write_blocking(|tx| {
            enroll::unenroll(tx, spring, "u0", "c", None, &lyceum_core::Reach::Everything)
        })
        .unwrap();
        let autumn = instant("2026-08-01");
        assert_eq!(sweep(db, autumn, &SettledUsers::Everybody), (2, 2));
        assert_eq!(sweep(db, autumn, &SettledUsers::Everybody), (2, 0));
        assert_eq!(courses(db, autumn, &last), [("c".into(), Some("2026-08-01".into()))]);
        assert_eq!(courses(db, autumn, "u0"), []);
        // School years in which nothing was settled get no enrollments.
        let later = instant("2029-01-01");
        assert_eq!(sweep(db, later, &SettledUsers::Everybody), (2, 2));
        assert_eq!(courses(db, later, "u1"), [("c".into(), Some("2028-08-01".into()))]);
    });
}

#[test]
fn a_track_of_a_district_applies_to_its_schools_unless_a_nearer_one_does() {
    both(|db| {
        school(db, 1);
        for (id, ty, parent) in [
            ("state", "state", None),
            ("district", "district", Some("state")),
            ("near", "school", Some("district")),
            ("own", "school", Some("district")),
        ] {
            let parent = parent.map(|parent| json!({ "sourcedId": parent }));
            create(db, "orgs", json!({"sourcedId": id, "name": id, "type": ty, "parent": parent}));
        }
        for course in ["of-all", "of-state", "of-district", "of-own"] {
            create(
                db,
                "courses",
                json!({"sourcedId": course, "title": course, "org": {"sourcedId": "s"}}),
            );
        }
        for school in ["near", "own"] {
            create(
                db,
                "users",
                json!({
                    "sourcedId": format!("at-{school}"), "enabledUser": true, "givenName": "G",
                    "familyName": "F", "grades": ["03"],
                    "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": school}}],
                }),
            );
        }
        for (course, org) in [
            ("of-all", None),
            ("of-state", Some("state")),
            ("of-district", Some("district")),
            ("of-own", Some("own")),
        ] {
            let body =
                json!({"subject": "Math", "grade": "3", "courseId": course, "orgSourcedId": org});
            let track = serde_json::from_value::<SubjectTrackInput>(body).unwrap().into();
            db.write_blocking(|tx| tracks::put(tx, &track, &Reach::Everything)).unwrap();
        }
        let spring = instant("2026-03-01");
        sweep(db, spring, &SettledUsers::Everybody);
        let of = |user: &str| {
            courses(db, spring, user).into_iter().map(|(course, _)| course).collect::<Vec<_>>()
        };
        assert_eq!(of("at-near"), ["of-district"]);
        assert_eq!(of("at-own"), ["of-own"]);
        assert_eq!(of("u0"), ["of-all"], "the school is in no district");
    });
}

#[test]
fn a_track_of_the_students_school_overrides_the_general_one() {
    both(|db| {
        school(db, 2);
        create(db, "orgs", json!({"sourcedId": "t", "name": "Other", "type": "school"}));
        create(
            db,
            "courses",
            json!({"sourcedId": "art", "title": "Art", "org": {"sourcedId": "t"}}),
        );
        let elsewhere = json!({
            "sourcedId": "cat", "enabledUser": true, "givenName": "G", "familyName": "F", "grades": ["3"],
            "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "t"}}],
        });
        create(db, "users", elsewhere);
        let now = instant("2026-03-01");
        let of_t =
            json!({"subject": "MATH", "grade": "03", "courseId": "art", "orgSourcedId": "t"});
        let of_t = Track::from(serde_json::from_value::<SubjectTrackInput>(of_t).unwrap());
        let put =
            |track: &Track| db.write_blocking(|tx| tracks::put(tx, track, &Reach::Everything));
        put(&of_t).unwrap();
        put(&track("c")).unwrap();
        let settled = |user: &str| {
            let settle =
                |tx: &mut Tx<'_>| enrollments::settled_of_user(tx, now, user, &Reach::Everything);
            let settled = db.write_blocking(settle).unwrap();
            settled.into_iter().map(|one| one.course.id).collect::<Vec<_>>()
        };
        assert_eq!([settled("u0"), settled("cat")], [["c"], ["art"]]);
        // A student who is there already stays there once.
        let request = EnrollmentRequest::default();
        let again = db.write_blocking(|tx| {
            enroll::enroll(tx, now, "u0", "c", None, &request, &Reach::Everything)
        });
        assert!(!again.unwrap().1);
        assert_eq!(settled("u0"), ["c"]);
        // A deleted course leads nobody.
        let courses = at("courses").unwrap();
        let delete =
            |tx: &mut Tx<'_>| write::delete(tx, courses, "c", now, false, None, &Reach::Everything);
        db.write_blocking(delete).unwrap();
        assert_eq!(settled("u1"), [] as [&str; 0]);
    });
}

#[test]
fn a_read_reports_that_enrollments_are_due() {
    both(|db| {
        school(db, 1);
        let now = instant("2026-03-01");
        db.write_blocking(|tx| tracks::put(tx, &track("c"), &lyceum_core::Reach::Everything))
            .unwrap();
        let read = || {
            db.read_blocking(|tx| {
                enrollments::of_user(tx, now, "u0", &lyceum_core::Reach::Everything)
            })
            .unwrap()
        };
        assert!(read().is_none());
        let settled = db
            .write_blocking(|tx| {
                enrollments::settled_of_user(tx, now, "u0", &lyceum_core::Reach::Everything)
            })
            .unwrap();
        assert_eq!(settled.len(), 1);
        assert_eq!(read().unwrap().len(), 1);
    });
}

#[test]
fn another_class_with_the_id_of_a_default_class_is_not_used() {
    both(|db| {
        school(db, 1);
        let now = instant("2026-03-01");
        create(
            db,
            "courses",
            json!({"sourcedId": "other", "title": "x", "org": {"sourcedId": "s"}}),
        );
        create(
            db,
            "academicSessions",
            json!({"sourcedId": "t", "title": "t", "type": "term", "schoolYear": "2026",
                "startDate": "2026-01-01", "endDate": "2026-06-30"}),
        );
        create(
            db,
            "classes",
            json!({"sourcedId": "class-c-s-2026", "title": "x", "course": {"sourcedId": "other"},
                "school": {"sourcedId": "s"}, "terms": [{"sourcedId": "t"}]}),
        );
        let refused = db
            .write_blocking(|tx| {
                enroll::enroll(
                    tx,
                    now,
                    "u0",
                    "c",
                    None,
                    &enroll::EnrollmentRequest::default(),
                    &lyceum_core::Reach::Everything,
                )
            })
            .unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Conflict);
        // Students who wait for that class do not block other enrollments.
        create(
            db,
            "courses",
            json!({"sourcedId": "d", "title": "Reading", "org": {"sourcedId": "s"}}),
        );
        let reading = json!({"subject": "Reading", "grade": "3", "courseId": "d"});
        let reading = Track::from(serde_json::from_value::<SubjectTrackInput>(reading).unwrap());
        db.write_blocking(|tx| tracks::put(tx, &track("c"), &lyceum_core::Reach::Everything))
            .unwrap();
        db.write_blocking(|tx| tracks::put(tx, &reading, &lyceum_core::Reach::Everything)).unwrap();
        db.write_blocking(|tx| settle::settle(tx, now, &SettledUsers::Everybody, 0)).unwrap();
        let listed = || {
            let settled = |tx: &mut Tx<'_>| {
                enrollments::settled_of_user(tx, now, "u0", &lyceum_core::Reach::Everything)
            };
            let listed = db.write_blocking(settled).unwrap();
            listed.into_iter().map(|one| one.course.id).collect::<Vec<_>>()
        };
        assert_eq!(listed(), ["d"]);
        let collection = at("classes").unwrap();
        db.write_blocking(|tx| {
            write::delete(tx, collection, "class-c-s-2026", now, false, None, &Reach::Everything)
        })
        .unwrap();
        assert_eq!(listed(), ["d", "c"]);
    });
}

#[test]
fn two_concurrent_enrollments_share_one_default_class() {
    both(|db| {
        school(db, 2);
        let now = instant("2026-01-15");
        let enrol = |user: &'static str| {
            move |tx: &mut Tx<'_>| {
                enroll::enroll(
                    tx,
                    now,
                    user,
                    "c",
                    None,
                    &EnrollmentRequest::default(),
                    &lyceum_core::Reach::Everything,
                )
            }
        };
        let (one, other) = race::at_once(db, enrol("u0"), enrol("u1"));
        assert!(one.is_ok() && other.is_ok(), "{one:?}, {other:?}");
        let classes = "SELECT COUNT(*) FROM classes";
        let classes = db.read_blocking(|tx| tx.query_one(classes, &[], |row| row.int(0)));
        assert_eq!(classes.unwrap(), Some(1));
        let (one, other) = race::at_once(db, enrol("u0"), enrol("u0"));
        assert!(one.is_ok() && other.is_ok(), "{one:?}, {other:?}");
        let places = "SELECT COUNT(*) FROM enrollments WHERE status = 'active'";
        let places = db.read_blocking(|tx| tx.query_one(places, &[], |row| row.int(0)));
        assert_eq!(places.unwrap(), Some(2));
    });
}
