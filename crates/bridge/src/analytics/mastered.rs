//! The highest grade that a student mastered in a subject, for each source of assessment results.

use lyceum_core::{Reach, Result};
use lyceum_roster::fields;
use lyceum_roster::kinds::{ASSESSMENT_LINE_ITEM, ASSESSMENT_RESULT, COURSE, USER};
use lyceum_roster::record::Object;
use lyceum_roster::repository;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The highest grades mastered.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HighestGrades {
    /// The student's sourcedId.
    pub student_id: String,
    /// The subject as requested.
    pub subject: String,
    /// The grades; empty if nothing is known.
    pub grades: GradesBySource,
    /// A message if nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The mastered grade of each source, as its result writes it.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GradesBySource {
    /// From RIT scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rit_grade: Option<i64>,
    /// From Edulastic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edulastic_grade: Option<String>,
    /// From placement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement_grade: Option<String>,
    /// From testing out of courses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_out_grade: Option<String>,
    /// The highest of these grades.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highest_grade_overall: Option<String>,
}

/// The highest grade of each source among the active, fully graded assessment results. Their metadata has `source`
/// (`rit`, `map`, `edulastic`, `placement`, `test-out`), `grade` and `subject`. Without a subject, the subjects of the
/// line item's course count. Grades are compared by value. Errors: `NotFound`.
pub fn highest_grade_mastered(
    tx: &mut Tx<'_>,
    student: &str,
    subject: &str,
    reach: &Reach,
) -> Result<HighestGrades> {
    fields::in_use_within(tx, &USER, student, reach)?;
    let mut best: [Option<(i64, String)>; 4] = [None, None, None, None];
    for stored in repository::referring_to(tx, &ASSESSMENT_RESULT, "student", &[student])? {
        let result = fields::of(&stored)?;
        let metadata = fields::metadata(&result);
        let source = source(fields::text(&metadata, "source"));
        let Some((source, grade)) = source.zip(metadata.get("grade").and_then(grade)) else {
            continue;
        };
        if fields::text(&result, "scoreStatus") != "fully graded"
            || best[source].as_ref().is_some_and(|(value, _)| *value >= grade.0)
        {
            continue;
        }
        if is_about(tx, &result, &metadata, subject)? {
            best[source] = Some(grade);
        }
    }
    let overall = best.iter().flatten().max_by_key(|(value, _)| *value).cloned();
    let nothing = || {
        let description =
            "no assessment result names a source and a grade for this student and subject";
        description.to_owned()
    };
    let [rit, edulastic, placement, test_out] = best;
    let text = |best: Option<(i64, String)>| best.map(|(_, text)| text);
    Ok(HighestGrades {
        student_id: student.to_owned(),
        subject: subject.to_owned(),
        message: overall.is_none().then(nothing),
        grades: GradesBySource {
            rit_grade: rit.map(|(value, _)| value),
            edulastic_grade: text(edulastic),
            placement_grade: text(placement),
            test_out_grade: text(test_out),
            highest_grade_overall: text(overall),
        },
    })
}

/// The position of the named source in [`GradesBySource`].
fn source(text: &str) -> Option<usize> {
    let letters: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    match letters.to_ascii_lowercase().as_str() {
        "rit" | "map" | "nweamap" => Some(0),
        "edulastic" => Some(1),
        "placement" => Some(2),
        "testout" => Some(3),
        _ => None,
    }
}

/// A grade's value and text: `3`, `"3"` and `"03"` are the same grade.
fn grade(value: &Value) -> Option<(i64, String)> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some((lyceum_roster::grade::value(&text)?, text))
}

fn is_about(tx: &mut Tx<'_>, result: &Object, metadata: &Object, subject: &str) -> Result<bool> {
    if let Some(named) = fields::opt_text(metadata, "subject") {
        return Ok(named.eq_ignore_ascii_case(subject));
    }
    let item = fields::reference(result, "assessmentLineItem");
    let Some(item) = repository::find(tx, &ASSESSMENT_LINE_ITEM, item)? else { return Ok(false) };
    let course = fields::of(&item)?;
    let Some(course) = repository::find(tx, &COURSE, fields::reference(&course, "course"))? else {
        return Ok(false);
    };
    let subjects = fields::texts(&fields::of(&course)?, "subjects");
    Ok(subjects.iter().any(|known| known.eq_ignore_ascii_case(subject)))
}
