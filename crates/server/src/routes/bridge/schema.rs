//! JSON Schemas of the bridge.
#![expect(clippy::needless_pass_by_value, reason = "schemas are put together from parts")]

use serde_json::{Value, json};

/// `{key: value}`
pub(super) fn under(key: &str, value: Value) -> Value {
    json!({ "type": "object", "required": [key], "properties": { key: value } })
}

/// `{data: value}`
pub(super) fn data(value: Value) -> Value {
    under("data", value)
}

pub(super) fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn whole() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

fn metadata() -> Value {
    let goals = json!({
        "dailyXp": whole(), "dailyLessons": whole(), "dailyActiveMinutes": whole(),
        "dailyAccuracy": whole(), "dailyMasteredUnits": whole(),
    });
    let metrics = json!({
        "totalXp": whole(), "totalLessons": whole(), "totalGrades": whole(),
        "courseType": text(), "isSupplemental": { "type": "boolean" },
    });
    object(&[], json!({ "goals": object(&[], goals), "metrics": object(&[], metrics) }))
}

/// What a request to enrol may say.
pub(super) fn wish() -> Value {
    object(
        &[],
        json!({
            "sourcedId": text(),
            "role": { "type": "string", "default": "student" },
            "beginDate": { "type": "string", "format": "date" },
            "metadata": metadata(),
        }),
    )
}

pub(super) fn enrollment() -> Value {
    let app = object(
        &["id", "name", "domains"],
        json!({ "id": text(), "name": text(), "domains": list(text()) }),
    );
    let course = object(
        &["id", "title", "metadata", "subjects", "grades"],
        json!({
            "id": text(), "title": text(), "metadata": { "type": "object" },
            "subjects": list(text()), "grades": list(text()), "primaryApp": app,
        }),
    );
    let period = object(
        &["id", "title", "startDate", "endDate"],
        json!({ "id": text(), "title": text(), "startDate": text(), "endDate": text() }),
    );
    object(
        &[
            "id",
            "role",
            "metadata",
            "course",
            "school",
            "periods",
            "testOutSupported",
            "testOutEligible",
        ],
        json!({
            "id": text(),
            "role": text(),
            "beginDate": { "type": "string", "format": "date" },
            "endDate": { "type": "string", "format": "date" },
            "metadata": metadata(),
            "course": course,
            "school": object(&["id", "name"], json!({ "id": text(), "name": text() })),
            "periods": list(period),
            "testOutSupported": { "type": "boolean" },
            "testOutEligible": { "type": "boolean" },
        }),
    )
}

pub(super) fn default_class() -> Value {
    object(
        &["id", "title", "subjectCodes", "subjects", "grades", "periods", "course"],
        json!({
            "id": text(), "title": text(), "classCode": text(), "subjectCodes": list(text()),
            "subjects": list(text()), "grades": list(text()), "periods": list(text()),
            "course": object(
                &["id", "title", "metadata"],
                json!({ "id": text(), "title": text(), "metadata": { "type": "object" } }),
            ),
        }),
    )
}

pub(super) fn goals_reset() -> Value {
    object(&["updated", "errors"], json!({ "updated": whole(), "errors": list(text()) }))
}

pub(super) fn progress_reset() -> Value {
    object(&["resultsReset"], json!({ "resultsReset": whole() }))
}

pub(super) fn track_input() -> Value {
    object(
        &["subject", "grade", "courseId"],
        json!({
            "subject": { "type": "string", "minLength": 1 },
            "grade": { "anyOf": [{ "type": "string", "minLength": 1 }, { "type": "integer" }] },
            "courseId": { "type": "string", "minLength": 1 },
            "orgSourcedId": { "anyOf": [text(), { "type": "null" }] },
        }),
    )
}

pub(super) fn track() -> Value {
    let org = object(&["sourcedId", "name"], json!({ "sourcedId": text(), "name": text() }));
    object(
        &["id", "subject", "grade", "course", "org"],
        json!({
            "id": text(),
            "subject": text(),
            "grade": text(),
            "course": object(
                &["sourcedId", "title"],
                json!({ "sourcedId": text(), "title": text(), "metadata": { "type": "object" } }),
            ),
            "org": { "anyOf": [org, { "type": "null" }] },
        }),
    )
}

pub(super) fn group() -> Value {
    object(
        &["id", "name", "tracks"],
        json!({ "id": text(), "name": text(), "tracks": list(track()) }),
    )
}

/// What is known of a student's MAP tests.
pub(super) fn map_profile() -> Value {
    object(
        &["userId", "metadata"],
        json!({
            "userId": text(),
            "ritScore": { "type": "integer" },
            "percentile": { "type": "integer" },
            "gradeLevel": text(),
            "testDate": text(),
            "subject": text(),
            "metadata": { "type": "object" },
        }),
    )
}

pub(super) fn application() -> Value {
    object(
        &["sourcedId", "name", "domain"],
        json!({ "sourcedId": text(), "name": text(), "domain": list(text()) }),
    )
}

pub(super) fn application_metrics() -> Value {
    object(
        &["applicationSourcedId", "totalUsers", "activeUsers"],
        json!({
            "applicationSourcedId": text(), "totalUsers": whole(), "activeUsers": whole(),
            "metadata": { "type": "object" },
        }),
    )
}

pub(super) fn time_saved() -> Value {
    object(
        &["userId", "schoolDaysElapsed", "schoolYearStartDate", "calculation"],
        json!({
            "userId": text(),
            "totalHoursSaved": { "type": "number" },
            "totalDaysSaved": { "type": "number" },
            "schoolDaysElapsed": whole(),
            "earliestStartDate": text(),
            "schoolYearStartDate": text(),
            "calculation": { "type": "object" },
        }),
    )
}
