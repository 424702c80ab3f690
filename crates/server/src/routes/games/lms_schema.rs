//! JSON Schemas of learning.

use lyceum_core::limits;
use serde_json::{Value, json};

use crate::routes::adaptive::shape::{
    grade, list, number, object, or_null, some_text, text, whole, whole_object, words,
};

fn from_0() -> Value {
    json!({ "type": "number", "minimum": 0 })
}

fn instant() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn organization() -> Value {
    whole_object(json!({ "id": some_text(), "name": text(), "type": text() }))
}

pub(super) fn integration() -> Value {
    let course = whole_object(json!({
        "courseId": some_text(), "subject": text(), "grade": text(), "title": text(),
        "courseCode": text(), "totalXp": from_0(), "masterableUnits": from_0(),
    }));
    whole_object(json!({
        "gameId": some_text(), "organization": organization(), "courses": list(course),
    }))
}

/// An integration, of a dry run with what is there of it.
pub(super) fn set_up() -> Value {
    let mut shown = integration();
    shown["properties"]["found"] = list(found());
    shown
}

pub(super) fn setup() -> Value {
    let course = object(
        &["subject", "grade", "totalXp"],
        json!({
            "subject": some_text(), "grade": grade(), "totalXp": from_0(),
            "masterableUnits": or_null(from_0()), "title": or_null(some_text()),
            "courseCode": or_null(some_text()), "courseId": or_null(some_text()),
        }),
    );
    let organization = object(
        &[],
        json!({
            "id": or_null(some_text()), "name": or_null(some_text()), "type": or_null(some_text()),
        }),
    );
    let mut courses = list(course);
    courses["minItems"] = 1.into();
    courses["maxItems"] = limits::LMS_COURSES_MAX_COUNT.into();
    object(
        &["courses"],
        json!({ "gameId": or_null(some_text()), "organization": organization, "courses": courses }),
    )
}

fn found() -> Value {
    let resource = whole_object(json!({
        "type": text(), "id": text(), "state": words(&["ok", "deleted", "missing"]),
    }));
    whole_object(json!({ "subject": text(), "grade": text(), "resources": list(resource) }))
}

pub(super) fn verified() -> Value {
    whole_object(json!({
        "gameId": some_text(), "status": words(&["ok", "incomplete"]), "courses": list(found()),
        "missing": list(text()),
    }))
}

pub(super) fn config() -> Value {
    let course = whole_object(json!({
        "subject": text(), "grade": text(), "totalXp": from_0(), "masterableUnits": from_0(),
        "title": text(), "courseCode": text(),
    }));
    let base = whole_object(json!({ "organization": organization() }));
    whole_object(json!({ "base": base, "courses": list(course) }))
}

fn activity() -> Value {
    object(
        &["activityId", "subject", "grade"],
        json!({
            "activityId": some_text(), "activityName": or_null(some_text()),
            "subject": some_text(), "grade": grade(), "appName": or_null(some_text()),
            "sensorUrl": or_null(json!({ "type": "string", "pattern": "^https?://" })),
        }),
    )
}

pub(super) fn ended() -> Value {
    let score = whole_object(json!({ "correctQuestions": whole(), "totalQuestions": whole() }));
    let timing = object(
        &["durationSeconds"],
        json!({ "durationSeconds": from_0(), "endedAt": or_null(instant()) }),
    );
    object(
        &["activityData", "scoreData", "timingData"],
        json!({
            "gameId": or_null(some_text()), "studentId": or_null(some_text()),
            "activityData": activity(), "scoreData": score, "timingData": timing,
            "xpEarned": or_null(from_0()), "masteredUnits": or_null(from_0()),
        }),
    )
}

pub(super) fn earned() -> Value {
    whole_object(json!({
        "xpAwarded": from_0(), "attempt": whole(), "multiplier": or_null(from_0()),
        "courseId": some_text(), "masteredUnits": from_0(), "pctCompleteApp": or_null(from_0()),
        "eventId": some_text(),
    }))
}

pub(super) fn spent() -> Value {
    let timing = object(
        &[],
        json!({
            "startedAt": or_null(instant()), "endedAt": or_null(instant()),
            "activeSeconds": from_0(), "inactiveSeconds": from_0(),
        }),
    );
    object(
        &["activityData", "timingData"],
        json!({
            "gameId": or_null(some_text()), "studentId": or_null(some_text()),
            "activityData": activity(), "timingData": timing,
        }),
    )
}

pub(super) fn kept() -> Value {
    whole_object(json!({ "eventId": some_text() }))
}

pub(super) fn day_xp() -> Value {
    whole_object(json!({ "date": { "type": "string", "format": "date" }, "xp": number() }))
}

pub(super) fn new_xp() -> Value {
    object(&["xp"], json!({ "xp": from_0(), "timezone": or_null(some_text()) }))
}

pub(super) fn total() -> Value {
    whole_object(json!({ "totalXp": number() }))
}

pub(super) fn history() -> Value {
    whole_object(json!({ "history": list(day_xp()) }))
}
