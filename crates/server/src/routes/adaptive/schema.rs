//! JSON Schemas of lessons.

use serde_json::{Value, json};

use super::shape::{number, object, or_null, some_text, text, whole};

fn lesson_type() -> Value {
    json!({
        "type": "string",
        "enum": ["powerpath-100", "quiz", "test-out", "placement", "unit-test", "alpha-read-article"],
    })
}

pub(super) fn student_and_lesson() -> Value {
    object(&["student", "lesson"], json!({ "student": some_text(), "lesson": some_text() }))
}

fn responses() -> Value {
    let one = json!({ "anyOf": [
        text(), number(), { "type": "boolean" }, { "type": "null" },
        { "type": "array", "items": { "anyOf": [text(), number(), { "type": "boolean" }] } },
    ] });
    json!({ "type": "object", "additionalProperties": one })
}

pub(super) fn answer() -> Value {
    let mut schema = object(
        &["student", "question", "lesson"],
        json!({ "student": some_text(), "question": some_text(), "lesson": some_text(), "responses": responses(), "response": {} }),
    );
    schema["anyOf"] = json!([{ "required": ["responses"] }, { "required": ["response"] }]);
    schema
}

fn question() -> Value {
    object(
        &["id", "index", "title", "url", "difficulty", "content"],
        json!({
            "id": text(),
            "index": whole(),
            "title": text(),
            "url": text(),
            "difficulty": { "type": "string", "enum": ["easy", "medium", "hard"] },
            "humanApproved": { "type": "boolean" },
            "content": object(&["type", "rawXml"], json!({ "type": text(), "rawXml": text() })),
            "response": {},
            "responses": { "type": "object" },
            "correct": { "type": "boolean" },
            "result": object(&["score", "feedback"], json!({ "score": number(), "feedback": {} })),
            "resultId": text(),
            "learningObjectives": { "type": "array", "items": text() },
        }),
    )
}

pub(super) fn next() -> Value {
    let mut schema = finalized();
    schema["required"] = json!(["score", "finalized", "question"]);
    schema["properties"]["question"] = or_null(question());
    schema
}

pub(super) fn answered() -> Value {
    let result = object(
        &["isCorrect", "score"],
        json!({
            "isCorrect": { "type": "boolean" },
            "score": number(),
            "feedback": object(&["identifier", "value"], json!({ "identifier": text(), "value": text() })),
            "feedbacks": { "type": "array", "items": { "type": "object" } },
            "outcomes": { "type": "object" },
        }),
    );
    object(
        &["lessonType", "questionResult"],
        json!({
            "lessonType": lesson_type(),
            "powerpathScore": number(),
            "responseResult": result,
            "questionResult": { "type": "object" },
            "testResult": { "type": "object" },
            "accuracy": number(),
            "correctQuestions": whole(),
            "totalQuestions": whole(),
            "xp": or_null(number()),
            "multiplier": or_null(number()),
        }),
    )
}

pub(super) fn finalized() -> Value {
    object(
        &[
            "lessonType",
            "finalized",
            "attempt",
            "score",
            "xp",
            "multiplier",
            "accuracy",
            "correctQuestions",
            "totalQuestions",
        ],
        json!({
            "lessonType": lesson_type(),
            "finalized": { "type": "boolean" },
            "attempt": whole(),
            "score": number(),
            "xp": or_null(number()),
            "multiplier": or_null(number()),
            "accuracy": number(),
            "correctQuestions": whole(),
            "totalQuestions": whole(),
            "pendingQuestions": whole(),
        }),
    )
}

pub(super) fn progress() -> Value {
    let questions = json!({ "type": "array", "items": question() });
    object(
        &[
            "lessonType",
            "attempt",
            "xp",
            "multiplier",
            "accuracy",
            "correctQuestions",
            "totalQuestions",
        ],
        json!({
            "lessonType": lesson_type(),
            "attempt": whole(),
            "score": number(),
            "remainingQuestionsPerDifficulty": object(
                &["easy", "medium", "hard"],
                json!({ "easy": whole(), "medium": whole(), "hard": whole() }),
            ),
            "finalized": { "type": "boolean" },
            "toolProvider": text(),
            "enrollmentFailed": { "type": "boolean" },
            "testResultId": text(),
            "xp": or_null(number()),
            "multiplier": or_null(number()),
            "accuracy": number(),
            "correctQuestions": whole(),
            "totalQuestions": whole(),
            "pendingQuestions": whole(),
            "questions": questions,
            "seenQuestions": questions,
        }),
    )
}

fn attempt() -> Value {
    object(
        &["attempt", "score", "scoreStatus", "xp", "startedAt", "completedAt"],
        json!({
            "attempt": whole(),
            "score": number(),
            "scoreStatus": {
                "type": "string", "enum": ["not submitted", "partially graded", "fully graded"],
            },
            "xp": or_null(number()),
            "startedAt": text(),
            "completedAt": or_null(text()),
        }),
    )
}

pub(super) fn attempt_made() -> Value {
    object(&["attempt"], json!({ "attempt": attempt() }))
}

pub(super) fn attempts() -> Value {
    object(&["attempts"], json!({ "attempts": { "type": "array", "items": attempt() } }))
}

pub(super) fn reset() -> Value {
    object(&["success", "score"], json!({ "success": { "type": "boolean" }, "score": number() }))
}

pub(super) fn log() -> Value {
    let answered = object(
        &["at", "responses", "result", "correct", "score", "points"],
        json!({
            "at": text(),
            "responses": { "type": "object" },
            "result": { "type": "object" },
            "correct": { "type": "boolean" },
            "pending": { "type": "boolean" },
            "score": number(),
            "points": whole(),
        }),
    );
    let entry = object(
        &["number", "question", "item", "served", "reason"],
        json!({
            "number": whole(),
            "question": whole(),
            "item": text(),
            "served": text(),
            "reason": object(&["strategy"], json!({ "strategy": text() })),
            "answered": answered,
        }),
    );
    object(
        &["attempt", "lessonType", "policy", "bank", "seed", "round", "log"],
        json!({
            "attempt": whole(),
            "lessonType": lesson_type(),
            "policy": whole(),
            "bank": text(),
            "seed": text(),
            "round": whole(),
            "log": { "type": "array", "items": entry },
        }),
    )
}
