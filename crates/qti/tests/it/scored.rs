//! Items of the standard with responses and the outcomes that are expected.

use std::path::Path;

use lyceum_core::random::RandomStream;
use lyceum_qti::model::Item;
use lyceum_qti::{DocumentContent, Outcomes, Responses, ScoringInput, read, score, variant};
use serde_json::{Map, Value as Json};

use crate::standards::folder;

/// Outcomes that are not those of the standard, and why. The folder's README names the fixtures: they
/// use what QTI 3 does not have.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("baseTypes_all", "REC_A", "QTI has no expression qti-record"),
    ("baseTypes_all", "REC_B", "QTI has no expression qti-record"),
    ("isNull_isNotNull", "SCORE", "QTI has no expression qti-is-not-null"),
    ("outcomeProcessing_exitTest", "SCORE", IN_AN_ITEM),
    ("outcomeProcessing_outcomeCondition_equal", "SCORE", IN_AN_ITEM),
    ("outcomeProcessing_outcomeCondition_toBoolean", "SCORE", IN_AN_ITEM),
    ("outcomeProcessing_outcomeProcessingFragment", "SCORE", IN_AN_ITEM),
    ("responseProcessing_anyN_allN", "SCORE_ALL", "QTI has no expression qti-all-n"),
    ("responseProcessing_lookupTable_interpolationTable", "SCORE", TABLE),
    ("responseProcessing_lookupTable_matchTable", "SCORE", TABLE),
    ("responseProcessing_mapOutcome_basic", "SCORE", "QTI has no expression qti-map-outcome"),
    ("responseProcessing_misc_math_string_stats", "SUB", "QTI has no substrings by place"),
    ("responseProcessing_misc_math_string_stats", "MOD", FUNCTION),
    ("responseProcessing_misc_math_string_stats", "MEAN", FUNCTION),
    ("responseProcessing_misc_math_string_stats", "SVAR", FUNCTION),
    ("responseProcessing_misc_math_string_stats", "SSD", FUNCTION),
    ("responseProcessing_misc_math_string_stats", "PVAR_MILLI", FUNCTION),
    ("responseProcessing_misc_math_string_stats", "PSD_MILLI", FUNCTION),
    ("responseProcessing_misc_math_string_stats", "TYPE_INT_OK", FUNCTION),
    ("responseProcessing_misc_math_string_stats", "TYPE_FLOAT_OK", FUNCTION),
    ("responseProcessing_notEqual_basic", "SCORE", "QTI has no expression qti-not-equal"),
    ("responseProcessing_patternMatch_caseSensitive", "SCORE", "a pattern is an attribute"),
    ("responseProcessing_preCondition", "PC_TRUE", PRE_CONDITION),
    ("responseProcessing_preCondition", "PC_FALSE", PRE_CONDITION),
    ("responseProcessing_preCondition", "PC_NULL", PRE_CONDITION),
    ("responseProcessing_preCondition", "PC_FROM_VAR", PRE_CONDITION),
    ("responseProcessing_random_lookupOutcomeValue", "PICKED", "the draw is another generator's"),
    ("responseProcessing_record_fieldValue", "OUT_X", "QTI has no expression qti-record"),
    ("responseProcessing_record_fieldValue", "OUT_Y", "QTI has no expression qti-record"),
    ("responseProcessing_setDefaultValue", "SCORE", SETTER),
    ("responseProcessing_setResponseValue_setDefaultValue", "SCORE", SETTER),
    ("responseProcessing_template_match_nothing", "SCORE", "no template of the standard"),
];
const IN_AN_ITEM: &str = "QTI has outcome processing in tests only";
const TABLE: &str = "QTI has lookup tables in declarations only";
const FUNCTION: &str = "in QTI these are names of qti-stats-operator, or nothing";
const PRE_CONDITION: &str = "in QTI it is a part of a test";
const SETTER: &str = "QTI sets responses and defaults in template processing only";

#[test]
fn the_examples_have_their_expected_scores() {
    let Some(folder) = folder("177 scored cases of the examples") else { return };
    let examples = folder.join("1edtech-examples");
    let text = std::fs::read_to_string(examples.join("expected-scores.json")).unwrap();
    let expected: Map<String, Json> = serde_json::from_str(&text).unwrap();
    let (mut wrong, mut met) = (Vec::new(), 0);
    for (file, expected) in &expected {
        let item = item(&examples.join(file));
        for case in expected["cases"].as_array().unwrap() {
            let outcomes = outcomes(&item, case, 1);
            compare(file, case, &case["expect"], &outcomes, &mut wrong, &mut met);
        }
    }
    println!("{met} outcomes of {} items are as expected", expected.len());
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(met >= 177, "only {met} outcomes were compared");
}

#[test]
fn the_fixtures_have_their_expected_outcomes_in_both_versions() {
    let Some(folder) = folder("scored fixtures") else { return };
    let folder = folder.join("scored-fixtures");
    let mut names: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    let (mut wrong, mut met) = (Vec::new(), 0);
    for path in &names {
        let name = path.file_name().unwrap().to_str().unwrap();
        let cases = std::fs::read_to_string(path.join("cases.json")).unwrap();
        let cases: Json = serde_json::from_str(&cases).unwrap();
        for version in ["item.qti3.xml", "item.qti22.xml"] {
            let item = item(&path.join(version));
            for case in cases["cases"].as_array().unwrap() {
                if case["xfail"] == true {
                    continue;
                }
                let outcomes = outcomes(&item, case, cases["seed"].as_u64().unwrap_or(1));
                let expect = &case["expect"];
                let file = format!("{name}/{version}");
                compare(&file, case, &expect["outcomes"], &outcomes, &mut wrong, &mut met);
                // NULL counts as 0 points.
                if let Some(expected) = expect["score"].as_f64()
                    && (outcomes.score().unwrap_or(0.0) - expected).abs() > 1e-9
                    && !is_exception(&file, "SCORE")
                {
                    wrong.push(format!("{file}: {}: {:?}", case["name"], outcomes.score()));
                }
                if let Some(expected) = expect["modalFeedbackIdentifiers"].as_array() {
                    let shown = outcomes.feedback(&item);
                    let shown: Vec<&str> = shown.iter().map(|f| &*f.identifier).collect();
                    assert_eq!(*expected, shown, "{file}");
                    met += 1;
                }
            }
        }
    }
    println!("{met} outcomes of {} fixtures are as expected", names.len());
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

fn item(path: &Path) -> Item {
    let xml = std::fs::read_to_string(path).unwrap();
    match read(&xml).unwrap_or_else(|fault| panic!("{}: {fault}", path.display())).content {
        DocumentContent::Item(item) => *item,
        other => panic!("{}: {other:?}", path.display()),
    }
}

fn outcomes(item: &Item, case: &Json, seed: u64) -> Outcomes {
    let mut random = RandomStream::seeded(seed);
    let variant = variant(item, &mut random);
    let responses = Responses::from_json(item, case["responses"].as_object().unwrap());
    let responses = responses.unwrap_or_else(|faults| panic!("{}: {faults:?}", item.identifier));
    let attempt = ScoringInput { variant: Some(&variant), ..ScoringInput::default() };
    score(item, &responses, attempt, &mut random)
}

fn compare(
    file: &str,
    case: &Json,
    expected: &Json,
    outcomes: &Outcomes,
    wrong: &mut Vec<String>,
    met: &mut usize,
) {
    let all = outcomes.to_json();
    for (name, expected) in expected.as_object().into_iter().flatten() {
        let actual = all.get(name).unwrap_or(&Json::Null);
        let same = match (actual.as_f64(), expected.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-9,
            _ => actual == expected || (is_empty(actual) && is_empty(expected)),
        };
        match same {
            true => *met += 1,
            false if is_exception(file, name) => {}
            false => {
                wrong.push(format!("{file}: {}: {name} = {actual}, not {expected}", case["name"]));
            }
        }
    }
}

fn is_exception(file: &str, outcome: &str) -> bool {
    let fixture = file.split('/').next().unwrap();
    EXCEPTIONS.iter().any(|(own, name, _)| *own == fixture && *name == outcome)
}

fn is_empty(json: &Json) -> bool {
    json.is_null() || json == "" || *json == Json::Array(Vec::new())
}
