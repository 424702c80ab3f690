//! Policies as data: what is read, what is refused and where.

use lyceum_adaptive::limits;
use lyceum_adaptive::{BuiltInPolicy, Difficulty, LessonType, Policy};
use serde_json::{Value, json};

fn powerpath() -> Value {
    serde_json::to_value(Policy::shipped(LessonType::Powerpath100)).unwrap()
}

/// The paths of a refusal.
fn faults(policy: &Value) -> Vec<String> {
    let refused = Policy::read(policy).expect_err("the policy is taken");
    refused.details.into_iter().map(|detail| detail.path).collect()
}

/// The policy with another value at the pointer.
fn with(mut policy: Value, pointer: &str, value: Value) -> Value {
    *policy.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
    policy
}

#[test]
fn shipped_policies_are_valid_and_survive_a_round_trip() {
    for lesson_type in LessonType::ALL {
        assert_eq!(LessonType::from_name(lesson_type.name()), Some(lesson_type));
        assert_eq!(json!(lesson_type), json!(lesson_type.name()));
        for shipped in BuiltInPolicy::ALL {
            let policy = Policy::of(lesson_type, shipped);
            let json = serde_json::to_value(&policy).unwrap();
            assert_eq!(Policy::read(&json).unwrap(), policy);
            assert_eq!(BuiltInPolicy::from_name(&policy.name), Some(shipped));
        }
    }
    assert_eq!(LessonType::from_name("adaptive"), None);
    assert_eq!(Difficulty::ALL.map(|of| json!(of)), ["easy", "medium", "hard"].map(|of| json!(of)));
}

#[test]
fn the_shipped_policy_reads_as_documented() {
    let expected = json!({
        "lessonType": "powerpath-100",
        "name": "standard",
        "scoring": {"steps": {
            "right": [
                {"from": 0, "points": 14}, {"from": 10, "points": 13}, {"from": 20, "points": 12},
                {"from": 30, "points": 11}, {"from": 40, "points": 10}, {"from": 50, "points": 9},
                {"from": 60, "points": 8}, {"from": 70, "points": 7}, {"from": 80, "points": 6},
                {"from": 90, "points": 5}],
            "wrong": [
                {"from": 0, "points": 1}, {"from": 20, "points": 2}, {"from": 30, "points": 3},
                {"from": 40, "points": 4}, {"from": 50, "points": 5}, {"from": 70, "points": 6},
                {"from": 80, "points": 7}, {"from": 90, "points": 8}]}},
        "strategy": {"bands": {
            "table": [
                {"from": 0, "shares": {"easy": 100, "medium": 0, "hard": 0}},
                {"from": 70, "shares": {"easy": 0, "medium": 75, "hard": 25}},
                {"from": 90, "shares": {"easy": 0, "medium": 0, "hard": 100}}],
            "climb": {
                "easy": ["medium", "hard"], "medium": ["hard", "easy"], "hard": ["medium", "easy"]}}},
        "mastery": 80,
        "xp": [
            [{"from": 100, "multiplier": 1.25}, {"from": 80, "multiplier": 1.0}],
            [{"from": 100, "multiplier": 1.0}, {"from": 80, "multiplier": 0.5}]]
    });
    assert_eq!(powerpath(), expected);
    let quiz = serde_json::to_value(Policy::shipped(LessonType::Quiz)).unwrap();
    assert_eq!((&quiz["scoring"], &quiz["strategy"]), (&json!("share"), &json!("in-order")));
}

#[test]
fn invalid_policies_are_refused_with_the_path() {
    let table = "/strategy/bands/table";
    let right = "/scoring/steps/right";
    let cases = [
        ("/lessonType", json!("essay"), "lessonType"),
        ("/name", json!(""), "name"),
        ("/name", json!("n".repeat(limits::POLICY_NAME_MAX_BYTES + 1)), "name"),
        ("/mastery", json!(101), "mastery"),
        ("/mastery", json!(-1), "mastery"),
        ("/mastery", json!("high"), "mastery"),
        ("/scoring", json!("share"), "scoring"),
        ("/scoring", json!("points"), "scoring"),
        ("/strategy", json!("in-order"), "strategy"),
        (right, json!([]), "scoring.steps.right"),
        (right, json!([{"from": 1, "points": 5}]), "scoring.steps.right[0].from"),
        ("/scoring/steps/right/0/points", json!(0), "scoring.steps.right[0].points"),
        ("/scoring/steps/wrong/7/points", json!(101), "scoring.steps.wrong[7].points"),
        ("/scoring/steps/wrong/7/from", json!(80), "scoring.steps.wrong[7].from"),
        ("/scoring/steps/wrong/7/from", json!(100), "scoring.steps.wrong[7].from"),
        (table, json!([]), "strategy.bands.table"),
        ("/strategy/bands/table/0/from", json!(1), "strategy.bands.table[0].from"),
        ("/strategy/bands/table/2/from", json!(70), "strategy.bands.table[2].from"),
        ("/strategy/bands/table/2/from", json!(100), "strategy.bands.table[2].from"),
        ("/strategy/bands/table/1/shares/hard", json!(26), "strategy.bands.table[1].shares"),
        ("/strategy/bands/table/1/shares/hard", json!(24), "strategy.bands.table[1].shares"),
        (
            "/strategy/bands/table/1/shares",
            json!({"easy": 0, "medium": 75, "hard": 25, "grim": 0}),
            "strategy.bands.table[1].shares.grim",
        ),
        ("/strategy/bands/climb/easy", json!(["hard", "easy"]), "strategy.bands.climb.easy"),
        ("/strategy/bands/climb/hard", json!(["easy", "easy"]), "strategy.bands.climb.hard"),
        ("/strategy/bands/climb/hard", json!(["easy"]), "strategy.bands.climb.hard"),
        ("/xp", json!([]), "xp"),
        ("/xp", json!(vec![json!([]); limits::POLICY_ATTEMPTS_MAX_COUNT + 1]), "xp"),
        ("/xp/0/0/from", json!(101), "xp[0][0].from"),
        ("/xp/0/1/from", json!(100), "xp[0][1].from"),
        ("/xp/1/0/multiplier", json!(-0.5), "xp[1][0].multiplier"),
        ("/xp/1/0/multiplier", json!(10.5), "xp[1][0].multiplier"),
    ];
    for (pointer, value, path) in cases {
        let policy = with(powerpath(), pointer, value.clone());
        assert_eq!(faults(&policy), [path], "{pointer} = {value}");
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let policy = with(powerpath(), "/strategy/bands/table/0/shares/easy", json!(99));
    let policy = with(with(policy, "/mastery", json!(200)), "/xp/0/0/from", json!(200));
    assert_eq!(faults(&policy), ["strategy.bands.table[0].shares", "mastery", "xp[0][0].from"]);
}

#[test]
fn values_at_the_limit_are_accepted() {
    let xp = json!(vec![json!([{"from": 0, "multiplier": 10}]); limits::POLICY_ATTEMPTS_MAX_COUNT]);
    let name = json!("n".repeat(limits::POLICY_NAME_MAX_BYTES));
    let policy = with(with(powerpath(), "/xp", xp), "/name", name);
    let policy = with(policy, "/strategy/bands/table/2/from", json!(99));
    Policy::read(&with(policy, "/mastery", json!(0))).unwrap();
}

#[test]
fn missing_and_unknown_members_are_named() {
    let mut policy = powerpath();
    policy.as_object_mut().unwrap().remove("mastery");
    let refused = Policy::read(&policy).unwrap_err();
    assert_eq!(refused.to_string(), "mastery: is required; send a whole number from 0 to 255");
    let policy = with(powerpath(), "/xp/0/0/multiplier", json!("most"));
    let refused = Policy::read(&policy).unwrap_err();
    assert_eq!(refused.to_string(), "xp[0][0].multiplier: must be a number");
    let policy = with(powerpath(), "/strategy", json!({"luck": {}}));
    assert_eq!(faults(&policy), ["strategy.bands", "strategy.luck"]);
    let mut policy = powerpath();
    policy["masterly"] = json!(80);
    assert_eq!(faults(&policy), ["masterly"]);
    let refused = Policy::read(&json!([])).unwrap_err();
    assert_eq!(refused.to_string(), "policy: must be an object");
}

#[test]
fn each_lesson_type_keeps_its_strategy() {
    let mut quiz = powerpath();
    quiz["lessonType"] = json!("quiz");
    assert_eq!(faults(&quiz), ["scoring", "strategy"]);
}
