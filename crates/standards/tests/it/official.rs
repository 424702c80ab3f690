//! The packages and schemas of the standard. They are not part of the repository: tests read them from
//! `$LYCEUM_STANDARDS` or `../shared/standards` beside it, and say so where they are absent.

use std::fs;
use std::path::{Path, PathBuf};

use lyceum_standards::class::{self, Class};
use lyceum_standards::{Shape, repository};
use serde_json::{Value, json};

use crate::{both, json, reader, store, written};

fn folder(left_out: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "tests are told where the standards are")]
    let variable = |name: &str| std::env::var(name).ok();
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/standards");
    let found = [variable("LYCEUM_STANDARDS").map(PathBuf::from), Some(beside)];
    let folder = found.into_iter().flatten().map(|at| at.join("case")).find(|at| at.exists());
    let required = variable("LYCEUM_REQUIRE_STANDARDS").is_some_and(|value| value == "1");
    assert!(folder.is_some() || !required, "the standards' files are not there");
    if folder.is_none() {
        println!("left out, without the standards' files: {left_out}");
    }
    folder
}

fn packages(folder: &Path) -> Vec<(String, String)> {
    let files = fs::read_dir(folder.join("packages")).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<(String, String)> = files
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into(), fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    assert!(found.len() >= 5, "only {} packages", found.len());
    found
}

/// Members that exports of 1.0 have inside a package, although they belong outside of it: links to the framework and
/// the package, which the server makes by itself.
fn without_owners(mut package: Value) -> Value {
    package["CFDocument"].as_object_mut().unwrap().remove("CFPackageURI");
    for list in ["CFItems", "CFAssociations"] {
        for one in package[list].as_array_mut().unwrap() {
            one.as_object_mut().unwrap().remove("CFDocumentURI");
        }
    }
    package
}

#[test]
fn every_package_of_the_standard_round_trips() {
    let Some(folder) = folder("round trips of the standard's packages") else { return };
    both(|db| {
        for (name, text) in packages(&folder) {
            let id = store(db, &text);
            let once = written(db, Shape::V1p1, &id);
            let sent = json(&text);
            // Ordering.json is an export of 1.0 with links to the framework in each of its records.
            let wanted = if name == "Ordering.json" { without_owners(sent) } else { sent };
            assert_eq!(json(&once), wanted, "{name}");
            store(db, &once);
            assert_eq!(written(db, Shape::V1p1, &id), once, "{name}, once more");
        }
    });
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::options().should_validate_formats(true).build(schema).unwrap()
}

fn hold(validator: &jsonschema::Validator, value: &Value, what: &str) {
    let faults: Vec<String> = validator
        .iter_errors(value)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{what}: {faults:#?}");
}

#[test]
fn the_official_schemas_hold_for_packages_and_for_what_is_in_them() {
    let Some(folder) = folder("the official schemas of CASE") else { return };
    let schema = |name: &str| json(&fs::read_to_string(folder.join(name)).unwrap());
    let validator_of = |name: &str| {
        validator(&schema(&format!("v1p1-jsonschema/case_v1p1_{name}-jsonschema1.json")))
    };
    let (new, old) =
        (validator_of("cfpackage"), old_package(&schema("v1p0/case-v1p0-swagger.json")));
    let mut all = packages(&folder);
    all.push(("our own".to_owned(), crate::size::rich().to_string()));
    both(|db| {
        for (name, text) in &all {
            let id = store(db, text);
            let package = json(&written(db, Shape::V1p1, &id));
            hold(&new, &package, name);
            hold(&old, &json(&written(db, Shape::V1p0, &id)), &format!("{name} as 1.0"));
            let reader = reader(Shape::V1p1);
            let (document, rubrics) = (validator_of("cfdocument"), validator_of("cfrubric"));
            let read = db.read_blocking(|tx| repository::document(tx, &reader, &id)).unwrap();
            hold(&document, &json(&read), name);
            let (item, set) = (validator_of("cfitem"), validator_of("cfassociationset"));
            for one in ids(&package["CFItems"]) {
                let read = db.read_blocking(|tx| repository::item(tx, &reader, &one)).unwrap();
                hold(&item, &json(&read), &one);
                let read = db.read_blocking(|tx| repository::item_associations(tx, &reader, &one));
                let (one_item, list) = read.unwrap();
                hold(
                    &set,
                    &json!({"CFItem": json(&one_item), "CFAssociations": json(&list)}),
                    &one,
                );
            }
            let association = validator_of("cfassociation");
            for one in ids(&package["CFAssociations"]) {
                let read = db.read_blocking(|tx| repository::association(tx, &reader, &one));
                hold(&association, &json(&read.unwrap()), &one);
            }
            let definitions = &package["CFDefinitions"];
            let single =
                |class: &'static Class, validator: &jsonschema::Validator, list: &Value| {
                    for one in ids(list) {
                        let read =
                            db.read_blocking(|tx| repository::definition(tx, &reader, class, &one));
                        hold(validator, &json(&read.unwrap()), &one);
                    }
                };
            single(&class::LICENSE, &validator_of("cflicense"), &definitions["CFLicenses"]);
            single(
                &class::GROUPING,
                &validator_of("cfassociationgrouping"),
                &definitions["CFAssociationGroupings"],
            );
            single(&class::RUBRIC, &rubrics, &package["CFRubrics"]);
            for (class, name) in [
                (&class::CONCEPT, "cfconceptset"),
                (&class::SUBJECT, "cfsubjectset"),
                (&class::ITEM_TYPE, "cfitemtypeset"),
            ] {
                let set = validator_of(name);
                for one in ids(&definitions[class.list]) {
                    let read =
                        db.read_blocking(|tx| repository::definition_set(tx, &reader, class, &one));
                    hold(&set, &json!({ class.list: json(&read.unwrap()) }), &one);
                }
            }
        }
    });
}

fn ids(list: &Value) -> Vec<String> {
    let all = list.as_array().into_iter().flatten();
    all.map(|one| one["identifier"].as_str().unwrap().to_owned()).collect()
}

/// The package of the document of 1.0, as a schema.
fn old_package(document: &Value) -> jsonschema::Validator {
    let package = json!({ "$ref": "#/definitions/CFPackage.Type" });
    let mut definitions = document["definitions"].clone();
    // The pattern there knows the versions 1 to 5 of UUIDs alone, which the standard's own packages
    // do not keep to; 1.1 says `format: uuid`.
    definitions["UUID.Type"] = json!({ "type": "string", "format": "uuid" });
    validator(&json!({ "allOf": [package], "definitions": definitions }))
}
