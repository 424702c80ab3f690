//! Pages: every record once, in a total order, by offset and by cursor.

use lyceum_core::{ProblemKind, Reach};
use lyceum_roster::collections;
use lyceum_roster::query::{ListParameters, query};
use lyceum_roster::repository::{ListCost, PathScope, cost};
use lyceum_store::Db;
use serde_json::json;

use crate::kit::{both, collection, create, ids, list, rules};

fn courses(db: &Db, count: usize) {
    create(db, "orgs", json!({"sourcedId": "org", "name": "Org", "type": "school"}));
    for n in 0..count {
        create(
            db,
            "courses",
            json!({
                "sourcedId": format!("course-{:04}", (n * 7919) % count),
                "title": format!("Course {}", n % 10),
                "courseCode": format!("C{}", n % 3),
                "org": {"sourcedId": "org"},
            }),
        );
    }
}

#[test]
fn offsets_and_cursors_visit_every_record_once() {
    both(|db| {
        courses(db, 701);
        for sort in [None, Some("sourcedId"), Some("title"), Some("org.sourcedId")] {
            for order_by in [None, Some("desc")] {
                let base = ListParameters {
                    sort,
                    order_by,
                    limit: Some("64"),
                    ..ListParameters::default()
                };
                let whole = ids(&list(
                    db,
                    "courses",
                    None,
                    &ListParameters { limit: Some("3000"), ..base },
                )
                .unwrap());
                assert_eq!(whole.len(), 701);
                let mut by_offset = Vec::new();
                while by_offset.len() < 701 {
                    let offset = by_offset.len().to_string();
                    let page = list(
                        db,
                        "courses",
                        None,
                        &ListParameters { offset: Some(&offset), ..base },
                    )
                    .unwrap();
                    assert_eq!(page.total, 701);
                    by_offset.extend(ids(&page));
                }
                assert_eq!(by_offset, whole, "by offset, {sort:?} {order_by:?}");
                let mut by_cursor = Vec::new();
                let mut cursor = Some(String::new());
                while let Some(at) = cursor {
                    let page =
                        list(db, "courses", None, &ListParameters { cursor: Some(&at), ..base })
                            .unwrap();
                    by_cursor.extend(ids(&page));
                    cursor = page.next;
                }
                assert_eq!(by_cursor, whole, "by cursor, {sort:?} {order_by:?}");
            }
        }
        let behind = ListParameters { offset: Some("5000"), ..ListParameters::default() };
        assert_eq!(list(db, "courses", None, &behind).unwrap().count, 0);
    });
}

#[test]
fn offsets_stay_correct_when_records_are_deleted() {
    both(|db| {
        courses(db, 600);
        for n in (0..600).step_by(3) {
            db.write_blocking(|tx| {
                let courses = crate::kit::collection("courses");
                let id = format!("course-{n:04}");
                lyceum_roster::write::delete(
                    tx,
                    courses,
                    &id,
                    rules().now,
                    false,
                    None,
                    &Reach::Everything,
                )
            })
            .unwrap();
        }
        let whole = ids(&list(
            db,
            "courses",
            None,
            &ListParameters { limit: Some("3000"), ..ListParameters::default() },
        )
        .unwrap());
        assert_eq!(whole.len(), 400);
        for offset in [1, 99, 255, 256, 257, 390, 399] {
            let at = offset.to_string();
            let parameters =
                ListParameters { offset: Some(&at), limit: Some("5"), ..ListParameters::default() };
            let page = list(db, "courses", None, &parameters).unwrap();
            assert_eq!(ids(&page), whole[offset..(offset + 5).min(400)], "offset {offset}");
            assert_eq!(page.total, 400);
        }
        let checked =
            db.read_blocking(|tx| lyceum_roster::repository::check(tx, |_, _| {})).unwrap();
        assert_eq!(checked.faults, Vec::<String>::new());
        assert_eq!(checked.records, 601);
    });
}

#[test]
fn numbers_out_of_range_and_foreign_cursors_are_refused() {
    both(|db| {
        courses(db, 3);
        let kind = |parameters: ListParameters<'_>| {
            list(db, "courses", None, &parameters).unwrap_err().kind
        };
        let none = ListParameters::default();
        for limit in ["0", "-1", "x", "99999999999999999999"] {
            assert_eq!(kind(ListParameters { limit: Some(limit), ..none }), ProblemKind::Invalid);
        }
        assert_eq!(kind(ListParameters { offset: Some("-1"), ..none }), ProblemKind::Invalid);
        assert_eq!(kind(ListParameters { order_by: Some("up"), ..none }), ProblemKind::Invalid);
        assert_eq!(
            kind(ListParameters { sort: Some("colour"), ..none }),
            ProblemKind::BadSelection
        );
        assert_eq!(
            kind(ListParameters { cursor: Some("bad!"), ..none }),
            ProblemKind::BadSelection
        );
        let one = ListParameters { limit: Some("1"), sort: Some("title"), ..none };
        let next = list(db, "courses", None, &one).unwrap().next.unwrap();
        assert_eq!(kind(ListParameters { cursor: Some(&next), ..none }), ProblemKind::BadSelection);
        let many = ListParameters { limit: Some("5000"), ..none };
        assert_eq!(list(db, "courses", None, &many).unwrap().count, 3, "served at the page limit");
    });
}

#[test]
fn search_looks_into_names_and_codes() {
    both(|db| {
        courses(db, 30);
        let found = |text: &str| {
            list(
                db,
                "courses",
                None,
                &ListParameters { search: Some(text), ..ListParameters::default() },
            )
            .unwrap()
            .total
        };
        assert_eq!(found("cOuRsE 7"), 3);
        assert_eq!(found("c1"), 10);
        assert_eq!(found("%"), 0);
    });
}

#[test]
fn search_finds_each_word_in_any_of_the_names_and_numbers_of_a_user() {
    both(|db| {
        create(db, "orgs", json!({"sourcedId": "s", "name": "s", "type": "school"}));
        let role = json!([{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}]);
        for (id, given, family) in
            [("ann", "Ann", "Smith"), ("zoe", "Zoë", "Smithers"), ("bo", "Bo", "Li")]
        {
            create(
                db,
                "users",
                json!({"sourcedId": id, "enabledUser": true, "givenName": given, "familyName": family,
                "preferredFirstName": format!("Pip{id}"), "preferredLastName": "O'Hara", "roles": role,
                "username": format!("{id}.name"), "email": format!("{id}@example.org"),
                "identifier": format!("NR-{id}-7")}),
            );
        }
        let found = |text: &str| {
            let parameters = ListParameters { search: Some(text), ..ListParameters::default() };
            ids(&list(db, "users", None, &parameters).unwrap()).join(" ")
        };
        for (text, expected) in [
            ("Ann Smith", "ann"),
            ("smith  ann", "ann"),
            ("smith", "ann zoe"),
            ("mith", "ann zoe"),
            ("zoe smith", "zoe"),
            ("pipbo LI", "bo"),
            ("o'hara pipann", "ann"),
            ("bo@example.org li", "bo"),
            ("bo.name bo", "bo"),
            ("nr-zoe-7 Zoë", "zoe"),
            ("ann li", ""),
            ("% li", ""),
            ("  ", "ann zoe bo"),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    });
}

/// The cost of a list: `low`, `high`, or whether few records are found.
fn expected_cost(
    db: &Db,
    path: &str,
    scope: Option<PathScope>,
    parameters: &ListParameters<'_>,
) -> &'static str {
    let query =
        query(collection(path), scope, Reach::Everything, parameters, db.dialect()).unwrap();
    match cost(&query) {
        ListCost::Low => "low",
        ListCost::High => "high",
        ListCost::Counted(probe) => match db.read_blocking(|tx| probe.finds_few(tx)).unwrap() {
            true => "few",
            false => "many",
        },
    }
}

#[test]
fn a_list_is_read_at_once_only_if_its_records_are_few() {
    both(|db| {
        courses(db, 1600);
        let by = |path: &str, filter: &str| {
            expected_cost(
                db,
                path,
                None,
                &ListParameters { filter: Some(filter), ..ListParameters::default() },
            )
        };
        assert_eq!(by("courses", "sourcedId='course-0001'"), "low");
        assert_eq!(by("enrollments", "user.sourcedId='ann'"), "low");
        assert_eq!(by("results", "student.sourcedId='ann'"), "low");
        assert_eq!(by("courses", "courseCode='D'"), "few");
        assert_eq!(by("courses", "courseCode='c1'"), "many");
        assert_eq!(by("users", "email='Ann@example.org'"), "few");
        assert_eq!(by("enrollments", "class.sourcedId='c'"), "few");
        for (path, filter) in [
            ("courses", "dateLastModified='2026-01-15T08:00:00.000Z'"),
            ("courses", "org.sourcedId='org'"),
            ("courses", "sourcedId>'course-0001'"),
            ("courses", "courseCode='D' AND title='Course 1'"),
            ("courses", "courseCode='D' OR courseCode='E'"),
            ("enrollments", "user.sourcedId='ann' AND dateLastModified='2026-01-15T08:00:00Z'"),
            ("users", "roles.role='student'"),
            ("users", "status='active'"),
        ] {
            assert_eq!(by(path, filter), "high", "{path}?filter={filter}");
        }
        let page = |path: &str, sort, offset| {
            expected_cost(
                db,
                path,
                None,
                &ListParameters { sort, offset, ..ListParameters::default() },
            )
        };
        assert_eq!(page("students", None, Some("100000")), "low");
        assert_eq!(page("students", Some("sourcedId"), None), "high", "it walks through everybody");
        assert_eq!(page("courses", Some("sourcedId"), Some("500")), "low");
        assert_eq!(page("courses", Some("sourcedId"), Some("501")), "high");
        let scoped = |path: &str| {
            let all = collections::ROSTERING.iter().chain(collections::GRADEBOOK);
            let scoped = *all.clone().find(|scoped| scoped.path == path).unwrap();
            let scope = PathScope { scoped, ids: vec![("classSourcedId", "c".to_owned())] };
            expected_cost(db, scoped.of, Some(scope), &ListParameters::default())
        };
        assert_eq!(scoped("/classes/{classSourcedId}/students"), "few");
        assert_eq!(scoped("/classes/{classSourcedId}/lineItems"), "few");
        assert_eq!(scoped("/classes/{classSourcedId}/results"), "high");
    });
}
