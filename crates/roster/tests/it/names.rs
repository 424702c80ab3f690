//! Users, classes and courses found by the words of their names.

use std::time::Instant;

use lyceum_core::Reach;
use lyceum_core::text::name_words;
use lyceum_roster::kinds::USER;
use lyceum_roster::record::Record;
use lyceum_roster::repository::{self, NameSearch, check};
use lyceum_roster::screens::search::{self, FoundRecord};
use lyceum_store::{Db, Tx};
use lyceum_testkit::records;
use serde_json::{Value, json};

use crate::kit::{both, create, object, rules};

fn user(id: &str, (given, family): (&str, &str), role: &str, school: &str) -> Value {
    let role = json!({ "roleType": "primary", "role": role, "org": { "sourcedId": school } });
    json!({ "sourcedId": id, "enabledUser": true, "givenName": given, "familyName": family, "roles": [role] })
}

fn ids(found: &[FoundRecord]) -> Vec<&str> {
    found.iter().map(|one| one.id.as_str()).collect()
}

/// The students that a search finds within a reach.
fn students(db: &Db, text: &str, reach: &Reach) -> Vec<FoundRecord> {
    let words = name_words(text);
    let read =
        |tx: &mut Tx<'_>| search::users(tx, NameSearch { words: &words, reach, most: 10 }, true);
    db.read_blocking(read).unwrap()
}

fn found(db: &Db, text: &str) -> Vec<String> {
    students(db, text, &Reach::Everything).into_iter().map(|one| one.id).collect()
}

#[test]
fn people_are_found_by_the_beginnings_of_words_without_case_and_accents() {
    both(|db| {
        for (id, name) in [("north", "North School"), ("east", "East School")] {
            records::school(db, id, name);
        }
        let names = [
            ("zoe", ("Zoë", "Núñez-O'Brien"), "student", "north"),
            ("zora", ("Zora", "Nunes"), "student", "east"),
            ("teacher", ("Zoe", "Nunn"), "teacher", "north"),
            ("li", ("伟", "李"), "student", "east"),
        ];
        for (id, name, role, school) in names {
            create(db, "users", user(id, name, role, school));
        }
        for (text, expected) in [
            ("zoe", vec!["zoe"]),
            ("ZOË nun", vec!["zoe"]),
            ("nunez zo", vec!["zoe"]),
            ("o'br", vec!["zoe"]),
            ("Zo", vec!["zora", "zoe"]),
            ("n z", vec!["zora", "zoe"]),
            ("李", vec!["li"]),
            // Only the beginning of a word is found, and each word must begin one of the name.
            ("oe", vec![]),
            ("zoe x", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(found(db, text), expected, "{text}");
        }
        let zoe = &students(db, "zoe", &Reach::Everything)[0];
        assert_eq!(
            (zoe.name.as_str(), &zoe.about[..]),
            ("Zoë Núñez-O'Brien", &["North School".to_owned()][..])
        );
        let north = Reach::organizations(["north"]).unwrap();
        assert_eq!(ids(&students(db, "zo", &north)), ["zoe"]);

        // Names that were changed are found by the new words only, and deleted users not at all.
        records::patch(db, "users", "zoe", &json!({ "givenName": "Yara" })).unwrap();
        assert_eq!((found(db, "yara"), found(db, "zoe")), (vec!["zoe".to_owned()], vec![]));
        records::patch(db, "users", "zora", &json!({ "status": "tobedeleted" })).unwrap();
        assert_eq!(found(db, "zora"), [""; 0]);
        let report = db.read_blocking(|tx| check(tx, |_, _| ())).unwrap();
        assert_eq!(report.faults, [""; 0]);
    });
}

#[test]
fn classes_and_courses_are_found_by_title_and_code_within_the_reach() {
    both(|db| {
        for school in ["north", "east"] {
            records::school(db, school, school);
            records::course(db, &format!("c-{school}"), school, "Math");
            records::class(db, &format!("k-{school}"), &format!("c-{school}"), school);
        }
        for (reach, expected) in [
            (Reach::Everything, vec!["east", "north"]),
            (Reach::organizations(["east"]).unwrap(), vec!["east"]),
        ] {
            let words = name_words("cou");
            let input = NameSearch { words: &words, reach: &reach, most: 10 };
            let courses = db.read_blocking(|tx| search::courses(tx, input)).unwrap();
            let due_courses: Vec<String> =
                expected.iter().map(|school| format!("c-{school}")).collect();
            assert_eq!(ids(&courses), due_courses);
            let words = name_words("class k");
            let input = NameSearch { words: &words, reach: &reach, most: 10 };
            let classes = db.read_blocking(|tx| search::classes(tx, input)).unwrap();
            let due_classes: Vec<String> =
                expected.iter().map(|school| format!("k-{school}")).collect();
            assert_eq!(ids(&classes), due_classes);
            assert_eq!(classes[0].about, [expected[0]]);
        }
        // A title may have any number of long words; a few of them are enough.
        let title = "Überlänge".repeat(200) + &" word".repeat(500);
        create(db, "courses", json!({ "sourcedId": "long", "title": title, "courseCode": "L" }));
        let words = name_words(&title);
        let input = NameSearch { words: &words, reach: &Reach::Everything, most: 10 };
        assert_eq!(ids(&db.read_blocking(|tx| search::courses(tx, input)).unwrap()), ["long"]);
    });
}

/// A name of the size of a real network: 400 given and 1000 family names.
fn name(n: u64) -> (String, String) {
    let word = |n: u64| {
        let letters = [n % 20, n / 20 % 5, n / 100 % 10].map(|at| usize::try_from(at).unwrap());
        let (first, second, third) =
            (b"bcdfghjklmnprstvwxyz"[letters[0]], b"aeiou"[letters[1]], b"lmnrstvkdb"[letters[2]]);
        [first, second, third].map(char::from).into_iter().collect::<String>()
    };
    (word(n * 7 % 400) + "ia", word(n % 1000) + "son")
}

#[test]
fn a_search_is_quick_in_a_large_network() {
    let users: u64 = if lyceum_testkit::full_size() { 200_000 } else { 20_000 };
    both(|db| {
        for school in ["large", "small"] {
            records::school(db, school, school);
        }
        for first in (0..users).step_by(1000) {
            let user = |n: u64| {
                let (given, family) = name(n);
                let school = if n.is_multiple_of(1000) { "small" } else { "large" };
                let user = user(&format!("u-{n}"), (&given, &family), "student", school);
                Record::from_server(&USER, &object(user), rules().now)
            };
            let batch: Vec<Record> =
                (first..first + 1000).map(user).collect::<Result<_, _>>().unwrap();
            db.write_blocking(|tx| repository::put_all(tx, &USER, &batch)).unwrap();
        }
        let small = Reach::organizations(["small"]).unwrap();
        for (text, reach) in [
            ("bal", &Reach::Everything),
            ("ba", &Reach::Everything),
            ("b", &Reach::Everything),
            ("bal bal", &Reach::Everything),
            ("b b", &Reach::Everything),
            ("ba", &small),
            ("b", &small),
            ("qqq", &small),
        ] {
            let times = (0..5).map(|_| {
                let begun = Instant::now();
                let found = students(db, text, reach);
                assert!(found.len() <= 10);
                begun.elapsed().as_secs_f64() * 1e3
            });
            let ms = times.fold(f64::MAX, f64::min);
            println!("{} users on {:?}, '{text}' of {reach}: {ms:.1} ms", users, db.dialect());
            assert!(ms < 1000.0, "'{text}' of {reach} took {ms} ms");
        }
    });
}
