//! The demo network: the same seed gives the same bytes, and every reference leads somewhere.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::match_same_arms,
    reason = "a test stops where it fails, and reads best with values"
)]

use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Read};

use lyceum_demo::{Summary, generate};
use lyceum_roster::csv::ExportContent;

fn network(students: u64, seed: u64) -> (Summary, Vec<u8>) {
    let mut out = Cursor::new(Vec::new());
    let summary = generate(students, seed, ExportContent::Complete, &mut out, |_| {}).unwrap();
    (summary, out.into_inner())
}

/// The rows of every file, each as header → cell.
fn tables(zip: &[u8]) -> HashMap<String, Vec<HashMap<String, String>>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(zip)).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut entry = archive.by_index(index).unwrap();
            let name = entry.name().unwrap().trim_end_matches(".csv").to_owned();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let rows = reader.deserialize().map(Result::unwrap).collect();
            (name, rows)
        })
        .collect()
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    assert_eq!(network(300, 7).1, network(300, 7).1);
    assert_ne!(network(300, 7).1, network(300, 8).1);
    assert_ne!(network(300, 7).1, network(301, 7).1);
}

#[test]
fn sizes_out_of_range_are_refused() {
    let refused =
        generate(0, 1, ExportContent::Standard, Cursor::new(Vec::new()), |_| {}).unwrap_err();
    assert!(refused.message.contains("1 to 9999999"), "{refused}");
}

#[test]
fn every_reference_has_a_target() {
    for (students, seed) in [(1, 1), (60, 2), (2_500, 3)] {
        let tables = tables(&network(students, seed).1);
        let ids: HashMap<&str, HashSet<&str>> = tables
            .iter()
            .filter(|(name, _)| *name != "manifest")
            .map(|(name, rows)| {
                let ids: HashSet<_> = rows.iter().map(|row| row["sourcedId"].as_str()).collect();
                assert_eq!(ids.len(), rows.len(), "{name} repeats a sourcedId");
                (name.as_str(), ids)
            })
            .collect();
        let mut followed = 0;
        for (name, rows) in &tables {
            for row in rows {
                for (header, cell) in row.iter().filter(|(_, cell)| !cell.is_empty()) {
                    let Some(target) = target(name, header) else { continue };
                    for id in cell.split(',') {
                        followed += 1;
                        assert!(ids[target].contains(id), "{name}.csv: {header} '{id}'");
                    }
                }
            }
        }
        assert!(followed > 10 * students, "{followed}");
    }
}

/// The file that a column refers to.
fn target(file: &str, header: &str) -> Option<&'static str> {
    Some(match (file, header) {
        ("orgs", "parentSourcedId") => "orgs",
        ("academicSessions", "parentSourcedId") => "academicSessions",
        ("courseComponents", "parentSourcedId" | "prerequisiteSourcedIds") => "courseComponents",
        ("demographics", "sourcedId") => "users",
        (_, "orgSourcedId" | "schoolSourcedId" | "primaryOrgSourcedId") => "orgs",
        (_, "schoolYearSourcedId" | "termSourcedIds" | "academicSessionSourcedId") => {
            "academicSessions"
        }
        (_, "courseSourcedId") => "courses",
        (_, "courseComponentSourcedId" | "componentSourcedId") => "courseComponents",
        (_, "componentResourceSourcedId") => "componentResources",
        (_, "resourceSourcedId") => "resources",
        (_, "classSourcedId") => "classes",
        (_, "userSourcedId" | "agentSourcedIds" | "studentSourcedId") => "users",
        (_, "categorySourcedId") => "categories",
        (_, "scoreScaleSourcedId") => "scoreScales",
        (_, "lineItemSourcedId") => "lineItems",
        (_, "resultSourcedId") => "results",
        (_, "assessmentLineItemSourcedId") => "assessmentLineItems",
        (_, other) => {
            assert!(other == "sourcedId" || !other.contains("Sourced"), "{file}: {other}");
            return None;
        }
    })
}

#[test]
fn the_network_is_believable() {
    let students = 2_500;
    let (summary, zip) = network(students, 11);
    let tables = tables(&zip);
    let rows = |name: &str| tables[name].len() as u64;
    for (file, count) in &summary.files {
        assert_eq!(rows(file), *count, "{file}");
    }
    let every_file = lyceum_roster::csv::files::ALL.iter();
    for file in every_file {
        assert!(rows(file.name) > 0, "{} is empty", file.name);
    }
    let with_role =
        |role: &str| tables["roles"].iter().filter(|row| row["role"] == role).count() as u64;
    assert_eq!(with_role("student"), students);
    assert!((students / 30..students / 8).contains(&with_role("teacher")));
    assert!((students / 2..students * 3 / 2).contains(&with_role("guardian")));
    let enrolled =
        tables["enrollments"].iter().filter(|row| row["role"] == "student").count() as u64;
    assert!((8 * students..=10 * students).contains(&enrolled), "{enrolled}");

    let mut sizes: HashMap<&str, u64> = HashMap::new();
    for row in tables["enrollments"].iter().filter(|row| row["role"] == "student") {
        *sizes.entry(&row["classSourcedId"]).or_default() += 1;
    }
    assert_eq!(sizes.len() as u64, rows("classes"), "a class without students");
    assert!(sizes.values().all(|size| *size <= 45), "a class too large");

    let scores: Vec<f64> = tables["results"]
        .iter()
        .filter(|row| !row["score"].is_empty())
        .map(|row| row["score"].parse().unwrap())
        .collect();
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    let spread =
        (scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / scores.len() as f64).sqrt();
    assert!((74.0..84.0).contains(&mean) && (7.0..14.0).contains(&spread), "{mean} {spread}");
    assert!(scores.iter().any(|score| *score > 100.0), "no extra credit");

    let lesson_types: HashSet<_> =
        tables["componentResources"].iter().map(|row| row["lessonType"].as_str()).collect();
    for lesson_type in ["powerpath-100", "quiz", "test-out", "placement", "unit-test", ""] {
        assert!(lesson_types.contains(lesson_type), "no {lesson_type}");
    }
}
