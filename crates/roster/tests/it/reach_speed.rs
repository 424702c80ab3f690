//! A page of a limited caller costs the same in a small and in a large roster.

use std::time::Instant;

use lyceum_core::Reach;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{ASSESSMENT_RESULT, DEMOGRAPHICS, LINE_ITEM, RESULT, USER};
use lyceum_roster::query::{ListParameters, query};
use lyceum_roster::record::Record;
use lyceum_roster::render::RecordView;
use lyceum_roster::repository;
use lyceum_store::{Db, SqlDialect, StoreLocation};
use serde_json::{Value, json};

use crate::deep_pages::leave_gap;
use crate::kit::{BASE, both, collection, create, object, rules};

/// The time in milliseconds of a page of a district that reaches some of the users.
fn page_ms(users: u64, reached: u64) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let location = StoreLocation::Sqlite(folder.path().join("roster.db"));
    let db = Db::open(&location, lyceum_roster::MIGRATIONS).unwrap();
    create(&db, "orgs", json!({ "sourcedId": "d", "name": "D", "type": "district" }));
    create(
        &db,
        "orgs",
        json!({ "sourcedId": "s", "name": "S", "type": "school", "parent": { "sourcedId": "d" } }),
    );
    create(&db, "orgs", json!({ "sourcedId": "x", "name": "X", "type": "school" }));
    // The users of the school lie behind all others.
    let user = |n: u64| {
        let school = if n + reached >= users { "s" } else { "x" };
        let role =
            json!({ "roleType": "primary", "role": "student", "org": { "sourcedId": school } });
        let user = json!({ "sourcedId": format!("u-{n}"), "enabledUser": true, "givenName": "A",
            "familyName": "B", "roles": [role] });
        Record::from_server(&USER, &object(user), rules().now)
    };
    for first in (0..users).step_by(1000) {
        let records = (first..users.min(first + 1000)).map(user).collect::<Result<Vec<_>, _>>();
        let records = records.unwrap();
        db.write_blocking(|tx| repository::put_all(tx, &USER, &records)).unwrap();
    }
    let reach = Reach::organizations(["d"]).unwrap();
    let parameters = ListParameters { limit: Some("100"), ..ListParameters::default() };
    let list_query = query(collection("users"), None, reach, &parameters, db.dialect()).unwrap();
    let view = RecordView { base_url: BASE, dialect: rules().dialect, fields: None };
    let times = (0..20).map(|_| {
        let begun = Instant::now();
        let page = db.read_blocking(|tx| repository::list(tx, &list_query, &view)).unwrap();
        assert_eq!((page.count, page.total), (100.min(reached), reached));
        begun.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::MAX, f64::min)
}

#[test]
#[ignore = "rest"]
fn a_page_of_a_district_costs_the_same_in_a_large_roster() {
    let factor = if lyceum_testkit::full_size() { 10 } else { 1 };
    for (reached, of) in [(500, "a small"), (2000, "a large")] {
        let small = page_ms(2000 * factor, reached);
        let large = page_ms(20_000 * factor, reached);
        println!(
            "a page of {of} district: {small:.2} ms, in a roster of ten times as many users {large:.2} ms"
        );
        assert!(large < small * 3.0, "{of} district: {small:.2} ms and {large:.2} ms");
    }
}

fn put_all(db: &Db, kind: &'static RecordKind, records: &[Value]) {
    for batch in records.chunks(1000) {
        let parse = |one: &Value| Record::from_server(kind, &object(one.clone()), rules().now);
        let batch = batch.iter().map(parse).collect::<Result<Vec<_>, _>>().unwrap();
        db.write_blocking(|tx| repository::put_all(tx, kind, &batch)).unwrap();
    }
}

/// The least time in milliseconds of a page at the offset, for a client of the district `d`.
fn page_at_ms(db: &Db, offset: usize, filter: Option<&str>) -> f64 {
    let offset = offset.to_string();
    let parameters = ListParameters {
        limit: Some("100"),
        offset: Some(&offset),
        filter,
        ..ListParameters::default()
    };
    let reach = Reach::organizations(["d"]).unwrap();
    let list_query = query(collection("users"), None, reach, &parameters, db.dialect()).unwrap();
    let view = RecordView { base_url: BASE, dialect: rules().dialect, fields: None };
    let times = (0..5).map(|_| {
        let begun = Instant::now();
        let page = db.read_blocking(|tx| repository::list(tx, &list_query, &view)).unwrap();
        assert_eq!(page.count, 100);
        begun.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::MAX, f64::min)
}

#[test]
#[ignore = "rest"]
fn a_deep_page_of_a_district_skips_only_inside_of_a_block() {
    let (blocks, in_block) = (10, if lyceum_testkit::full_size() { 20_000 } else { 2000 });
    let folder = tempfile::tempdir().unwrap();
    let location = StoreLocation::Sqlite(folder.path().join("roster.db"));
    let db = Db::open(&location, lyceum_roster::MIGRATIONS).unwrap();
    create(&db, "orgs", json!({ "sourcedId": "d", "name": "D", "type": "district" }));
    let schools = 20;
    for n in 0..schools {
        let school = json!({ "sourcedId": format!("s-{n}"), "name": "S", "type": "school",
            "parent": { "sourcedId": "d" } });
        create(&db, "orgs", school);
    }
    let user = |id: String, n: usize| {
        let school = json!({ "sourcedId": format!("s-{}", n % schools) });
        json!({ "sourcedId": id, "enabledUser": true, "givenName": "A", "familyName": "B",
            "roles": [{ "roleType": "primary", "role": "student", "org": school }] })
    };
    for block in 0..blocks {
        let users = (0..in_block).map(|n| user(format!("u-{block}-{n}"), n)).collect::<Vec<_>>();
        put_all(&db, &USER, &users);
        leave_gap(&db, "users", user(format!("gap-{block}"), 0), 65_536);
    }
    let last_of = |blocks: usize| blocks * in_block - 100;
    let (first, shallow, deep) = (
        page_at_ms(&db, 0, None),
        page_at_ms(&db, last_of(1), None),
        page_at_ms(&db, last_of(blocks), None),
    );
    let filtered = page_at_ms(&db, last_of(blocks), Some("enabledUser='true'"));
    println!(
        "of {} users: first page {first:.2} ms, page at offset {} {shallow:.2} ms, last page {deep:.2} ms; \
         last page with a filter, which skips all users {filtered:.2} ms",
        blocks * in_block,
        last_of(1),
    );
    assert!(
        deep < shallow * 3.0,
        "offset {}: {shallow:.2} ms, last page: {deep:.2} ms",
        last_of(1)
    );
}

/// A school with a line item for each 25 users, and for each user demographics and a result of both kinds.
fn add_school(db: &Db, school: &str, users: u64) {
    let refer = |id: String| json!({ "sourcedId": id });
    let own = || refer(school.to_owned());
    create(db, "orgs", json!({ "sourcedId": school, "name": "S", "type": "school" }));
    let class = format!("{school}-class");
    create(
        db,
        "classes",
        json!({ "sourcedId": class, "title": "C", "course": refer("c".into()), "school": own(),
                "terms": [refer("t".into())] }),
    );
    let all = |record: &dyn Fn(u64) -> Value| (0..users).map(record).collect::<Vec<_>>();
    let id = |n: u64| format!("{school}-{n}");
    let user = |n| {
        let role = json!({ "roleType": "primary", "role": "student", "org": own() });
        json!({ "sourcedId": id(n), "enabledUser": true, "givenName": "A", "familyName": "B", "roles": [role] })
    };
    put_all(db, &USER, &all(&user));
    put_all(db, &DEMOGRAPHICS, &all(&|n| json!({ "sourcedId": id(n), "sex": "other" })));
    let items = |n| {
        json!({ "sourcedId": id(n), "title": "I", "class": refer(class.clone()), "school": own(),
                "category": refer("k".into()), "assignDate": "2026-01-01T00:00:00.000Z",
                "dueDate": "2026-02-01T00:00:00.000Z" })
    };
    put_all(db, &LINE_ITEM, &(0..users.div_ceil(25)).map(items).collect::<Vec<_>>());
    let result = |n: u64, field: &str, item: String| {
        let mut result = json!({ "sourcedId": id(n), "student": refer(id(n)), "scoreStatus": "fully graded",
            "scoreDate": "2026-01-15", "score": 1 });
        result[field] = refer(item);
        result
    };
    put_all(db, &RESULT, &all(&|n| result(n, "lineItem", id(n / 25))));
    put_all(db, &ASSESSMENT_RESULT, &all(&|n| result(n, "assessmentLineItem", "a".into())));
}

/// The time in milliseconds of the first page of the list for a client of the school, with the total.
fn first_page_ms(db: &Db, path: &str, school: &str, users: u64) -> f64 {
    let reach = Reach::organizations([school]).unwrap();
    let parameters = ListParameters { limit: Some("100"), ..ListParameters::default() };
    let list_query = query(collection(path), None, reach, &parameters, db.dialect()).unwrap();
    let view = RecordView { base_url: BASE, dialect: rules().dialect, fields: None };
    let times = (0..10).map(|_| {
        let begun = Instant::now();
        let page = db.read_blocking(|tx| repository::list(tx, &list_query, &view)).unwrap();
        assert_eq!((page.count, page.total), (100, users), "{path}");
        begun.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::MAX, f64::min)
}

#[test]
#[ignore = "rest"]
fn lists_of_results_and_demographics_cost_the_same_beside_many_schools() {
    let schools = if lyceum_testkit::full_size() { 40 } else { 4 };
    both(|db| {
        create(
            db,
            "academicSessions",
            json!({ "sourcedId": "t", "title": "T", "type": "term",
            "schoolYear": "2026", "startDate": "2026-01-01", "endDate": "2026-06-30" }),
        );
        create(db, "categories", json!({ "sourcedId": "k", "title": "K" }));
        create(db, "courses", json!({ "sourcedId": "c", "title": "C", "courseCode": "c" }));
        create(db, "assessmentLineItems", json!({ "sourcedId": "a", "title": "A" }));
        let own = 300;
        let paths = ["results", "demographics", "assessmentResults"];
        let measure = |school: &str| {
            // PostgreSQL does so by itself after some time.
            if db.dialect() == SqlDialect::Postgres {
                db.write_blocking(|tx| tx.send("ANALYZE", &[])).unwrap();
            }
            paths.map(|path| first_page_ms(db, path, school, own))
        };
        let add_others = |count: usize, name: &str| {
            (0..count).for_each(|n| add_school(db, &format!("{name}-{n}"), own));
        };
        add_others(schools, "x");
        add_school(db, "first", own);
        let small = measure("first");
        add_others(schools * 9, "y");
        add_school(db, "second", own);
        let large = measure("second");
        for ((path, small), large) in paths.iter().zip(small).zip(large) {
            println!("{path}: {small:.2} ms, beside ten times as many others {large:.2} ms");
            // Reading the records of all schools would cost ten times as much.
            assert!(large < small * 3.0, "{path}: {small:.2} ms and {large:.2} ms");
        }
    });
}
