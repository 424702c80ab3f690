//! A page of a limited caller costs the same in a small and in a large roster.

use std::time::Instant;

use lyceum_core::Reach;
use lyceum_roster::kinds::USER;
use lyceum_roster::query::{ListParameters, query};
use lyceum_roster::record::Record;
use lyceum_roster::render::RecordView;
use lyceum_roster::repository;
use lyceum_store::{Db, StoreLocation};
use serde_json::json;

use crate::kit::{BASE, collection, create, object, rules};
use crate::migrations;

/// The time in milliseconds of a page of a district that reaches some of the users.
fn page_ms(users: u64, reached: u64) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let location = StoreLocation::Sqlite(folder.path().join("roster.db"));
    let db = Db::open(&location, &migrations()).unwrap();
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
    let asked = query(collection("users"), None, reach, &parameters, db.dialect()).unwrap();
    let view = RecordView { base_url: BASE, dialect: rules().dialect, fields: None };
    let times = (0..20).map(|_| {
        let begun = Instant::now();
        let page = db.read_blocking(|tx| repository::list(tx, &asked, &view)).unwrap();
        assert_eq!((page.count, page.total), (100.min(reached), reached));
        begun.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::MAX, f64::min)
}

#[test]
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
