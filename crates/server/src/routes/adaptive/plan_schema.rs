//! JSON Schemas of lesson plans.

use lyceum_adaptive::lesson_plans::TYPES;
use serde_json::{Value, json};

use super::shape::{
    any_object, flag, list, object, or_null, some_text, text, whole, whole_object, words,
};

pub(super) fn input() -> Value {
    object(
        &["courseId", "userId"],
        json!({ "courseId": some_text(), "userId": some_text(), "classId": some_text() }),
    )
}

pub(super) fn id() -> Value {
    whole_object(json!({ "lessonPlanId": text() }))
}

pub(super) fn tree() -> Value {
    let plan = object(
        &["id", "courseId", "userId", "course", "subComponents"],
        json!({
            "id": text(), "courseId": text(), "userId": text(), "classId": text(),
            "course": any_object(), "subComponents": list(any_object()),
        }),
    );
    whole_object(json!({ "lessonPlan": plan }))
}

pub(super) fn structure() -> Value {
    let node = object(
        &["type", "title", "order", "skipped", "itemId"],
        json!({
            "type": words(&["component", "resource"]), "title": text(), "order": text(),
            "skipped": flag(), "itemId": text(), "componentId": text(),
            "componentResourceId": text(), "resourceId": text(),
            "componentResources": list(any_object()), "subComponents": list(any_object()),
        }),
    );
    let plan = whole_object(json!({
        "id": text(), "courseId": text(), "courseTitle": text(), "structure": list(node),
    }));
    whole_object(json!({ "lessonPlan": plan }))
}

pub(super) fn operation_input() -> Value {
    let target =
        whole_object(json!({ "type": words(&["component", "resource"]), "id": some_text() }));
    let payload = object(
        &[],
        json!({
            "target": target, "value": flag(), "resource_id": some_text(),
            "parent_component_id": some_text(), "skipped": flag(), "reference_id": some_text(),
            "new_parent_id": some_text(), "position": words(&["start", "end"]),
        }),
    );
    let operation = whole_object(json!({ "type": words(&TYPES), "payload": payload }));
    object(&["operation"], json!({ "operation": operation, "reason": some_text() }))
}

pub(super) fn operations() -> Value {
    let operation = whole_object(json!({
        "id": text(), "type": words(&TYPES), "payload": any_object(), "reason": or_null(text()),
        "createdAt": text(), "sequenceNumber": whole(), "createdBy": or_null(text()),
    }));
    whole_object(json!({ "operations": list(operation) }))
}

pub(super) fn written() -> Value {
    whole_object(json!({ "success": flag(), "message": text(), "operationId": text() }))
}

pub(super) fn synced() -> Value {
    let errors = list(whole_object(json!({ "message": text() })));
    let result = object(&["success"], json!({ "success": flag(), "errors": errors }));
    whole_object(json!({
        "success": flag(), "message": text(), "operationCount": whole(),
        "operationResults": list(result),
    }))
}

pub(super) fn affected() -> Value {
    whole_object(json!({ "lessonPlansAffected": list(text()) }))
}
