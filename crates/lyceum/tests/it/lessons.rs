//! `lyceum lesson policy`, on both stores.

use serde_json::{Value, json};

use crate::admin::migrated_places;
use crate::transcript::Place;

/// The policy that the command prints, with another value at the pointer, as a file.
fn changed(place: &Place, file: &str, pointer: &str, value: Value) {
    let mut policy = place.json("lesson policy show powerpath-100 --shipped standard");
    *policy.pointer_mut(pointer).unwrap() = value;
    place.write(file, &policy.to_string());
}

#[test]
fn a_policy_is_shown_changed_and_set() {
    for place in migrated_places() {
        changed(&place, "mild.json", "/scoring/steps/wrong", json!([{"from": 0, "points": 1}]));
        changed(&place, "named.json", "/name", json!("of our school"));
        let (code, stdout, stderr) = place.run("lesson policy set mild.json");
        assert_eq!((code, stdout.as_str()), (0, ""));
        assert_eq!(
            stderr,
            "'standard' is version 1 of the policy of powerpath-100; \
             it applies to attempts that begin from now on\n"
        );
        let again = place.json("lesson policy set mild.json --json");
        assert_eq!(again["version"], 1, "setting it again changes nothing");
        let named = place.json("lesson policy set named.json --json");
        assert_eq!((&named["version"], &named["lessonType"]), (&json!(2), &json!("powerpath-100")));

        let listed = place.json("lesson policy show --json");
        let versions: Vec<_> = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (it["lessonType"].as_str().unwrap(), it["version"].as_i64().unwrap()))
            .collect();
        let expected = [
            ("powerpath-100", 2),
            ("quiz", 0),
            ("test-out", 0),
            ("placement", 0),
            ("unit-test", 0),
            ("alpha-read-article", 0),
        ];
        assert_eq!(versions, expected);
        let table = place.ok("lesson policy show");
        assert!(table.contains("powerpath-100       2        of our school  20"), "{table}");
        assert!(table.contains("quiz                0        standard       built in"), "{table}");

        let show = |more: &str| place.json(&format!("lesson policy show powerpath-100 {more}"));
        assert_eq!(show("")["name"], "of our school");
        assert_eq!(
            show("--version 1")["scoring"]["steps"]["wrong"],
            json!([{"from": 0, "points": 1}])
        );
        assert_eq!(show("--version 0"), show("--shipped standard"));
        assert_eq!(place.fails("lesson policy show powerpath-100 --version 3").0, 4);

        // What is shown is what is taken.
        place.write("former.json", &place.ok("lesson policy show powerpath-100 --version 0"));
        assert_eq!(place.json("lesson policy set former.json --json")["version"], 3);
        assert_eq!(show(""), show("--version 0"));
    }
}

#[test]
fn a_policy_with_errors_is_refused_and_each_error_is_listed() {
    let place = Place::new();
    assert_eq!(place.fails("lesson policy set none.json").0, 4);
    place.write("broken.json", "{");
    let (code, stderr) = place.fails("lesson policy set broken.json");
    assert_eq!(code, 1);
    assert!(stderr.contains("'broken.json' is not JSON"), "{stderr}");
    changed(&place, "wrong.json", "/strategy/bands/table/1/shares/hard", json!(30));
    let mut policy: Value =
        serde_json::from_str(&std::fs::read_to_string(place.path().join("wrong.json")).unwrap())
            .unwrap();
    policy["mastery"] = json!(101);
    place.write("wrong.json", &policy.to_string());
    let (code, stderr) = place.fails("lesson policy set wrong.json");
    assert_eq!(code, 1);
    assert!(
        stderr.contains("  strategy.bands.table[1].shares: must add up to 100 %: got 105 %"),
        "{stderr}"
    );
    assert!(stderr.contains("  mastery: must be at most 100 %: got 101"), "{stderr}");
    assert!(!place.path().join("lyceum-data").exists(), "nothing was made");
}

#[test]
fn policies_that_cannot_be_named_are_usage_errors() {
    let place = Place::new();
    for line in [
        "lesson",
        "lesson policy",
        "lesson policy show essay",
        "lesson policy show --version 1",
        "lesson policy show quiz --shipped generous",
        "lesson policy set",
    ] {
        assert_eq!(place.fails(line).0, 2, "{line}");
    }
    let (_, stderr) = place.fails("lesson policy show essay");
    assert!(stderr.contains("the types are powerpath-100, quiz, test-out"), "{stderr}");
    assert_eq!(place.fails("lesson policy show").0, 4, "there is no database");
}
