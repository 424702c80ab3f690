//! JSON Schemas of the game platform.

use lyceum_core::limits;
use lyceum_games::inventory::KINDS;
use serde_json::{Value, json};

use crate::routes::adaptive::shape::{
    any_object, flag, list, number, object, or_null, some_text, text, whole, whole_object, words,
};

pub(super) fn id() -> Value {
    some_text()
}

fn instant() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn at_least_one() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": limits::INVENTORY_MAX_COUNT })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": limits::INVENTORY_MAX_COUNT })
}

fn xp() -> Value {
    json!({ "type": "number", "minimum": 0 })
}

/// A text that people read, as it is sent.
fn said() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": limits::GAME_TEXT_MAX_BYTES })
}

fn slug(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern, "maxLength": limits::GAME_SLUG_MAX_BYTES })
}

/// A player as others see one.
pub(super) fn seen() -> Value {
    whole_object(json!({ "id": id(), "username": text() }))
}

/// Others are shown by id and username alone.
pub(super) fn player() -> Value {
    object(
        &["id", "username"],
        json!({
            "id": id(), "username": text(), "name": text(), "email": text(),
            "role": words(&["player", "developer", "admin"]),
            "developerStatus": words(&["none", "pending", "approved"]),
            "hasLmsAccount": flag(), "lms": or_null(learner()),
            "hasTimebackAccount": flag(), "timeback": or_null(learner()),
        }),
    )
}

fn learner() -> Value {
    let grade = json!({ "type": ["integer", "string"] });
    let enrolled = whole_object(json!({ "subject": text(), "grade": grade, "courseId": id() }));
    let belongs = whole_object(json!({
        "id": id(), "name": text(), "type": text(), "isPrimary": flag(),
    }));
    whole_object(json!({
        "id": id(), "role": text(), "enrollments": list(enrolled), "organizations": list(belongs),
    }))
}

pub(super) fn game() -> Value {
    whole_object(json!({
        "id": id(), "slug": text(), "displayName": text(), "description": or_null(text()),
        "emoji": or_null(text()), "platform": text(), "metadata": any_object(), "mock": flag(), "sharesIdentity": flag(),
        "createdAt": instant(), "updatedAt": instant(),
    }))
}

pub(super) fn new_game() -> Value {
    let slug = slug("^[a-z0-9]+(-[a-z0-9]+)*$");
    object(
        &["slug", "displayName"],
        json!({
            "slug": slug, "displayName": said(), "description": or_null(said()),
            "emoji": or_null(said()), "platform": or_null(said()), "metadata": any_object(),
        }),
    )
}

pub(super) fn game_change() -> Value {
    object(
        &[],
        json!({
            "displayName": or_null(said()), "description": or_null(said()),
            "emoji": or_null(said()), "platform": or_null(said()),
            "metadata": or_null(any_object()),
        }),
    )
}

pub(super) fn token() -> Value {
    whole_object(json!({
        "token": text(), "gameId": id(), "userId": id(), "expiresIn": whole(), "exp": whole(),
    }))
}

pub(super) fn item() -> Value {
    whole_object(json!({
        "id": id(), "slug": text(), "gameId": or_null(text()), "displayName": text(),
        "description": or_null(text()), "type": words(&KINDS), "metadata": any_object(),
    }))
}

pub(super) fn new_item() -> Value {
    object(
        &["slug", "displayName"],
        json!({
            "slug": slug("^[A-Za-z0-9_-]+$"), "gameId": or_null(some_text()),
            "displayName": said(), "description": or_null(said()),
            "type": or_null(words(&KINDS)), "metadata": any_object(),
        }),
    )
}

pub(super) fn held() -> Value {
    whole_object(json!({
        "id": id(), "quantity": at_least_one(), "item": item(), "updatedAt": instant(),
    }))
}

pub(super) fn movement() -> Value {
    whole_object(json!({ "itemId": some_text(), "qty": at_least_one() }))
}

pub(super) fn new_total() -> Value {
    whole_object(json!({ "newTotal": count() }))
}

pub(super) fn score() -> Value {
    whole_object(json!({
        "id": id(), "gameId": id(), "userId": id(), "score": number(), "metadata": any_object(),
        "achievedAt": instant(),
    }))
}

pub(super) fn new_score() -> Value {
    let most = limits::SCORE_MAX_COUNT;
    let score = json!({ "type": "number", "minimum": -most, "maximum": most });
    object(&["score"], json!({ "score": score, "metadata": or_null(any_object()) }))
}

pub(super) fn line() -> Value {
    whole_object(json!({
        "rank": at_least_one(), "userId": id(), "username": text(), "score": number(),
        "achievedAt": instant(),
    }))
}

pub(super) fn session() -> Value {
    whole_object(json!({
        "sessionId": id(), "gameId": id(), "userId": id(), "startedAt": instant(),
        "endedAt": or_null(instant()), "durationSeconds": or_null(whole()),
    }))
}

pub(super) fn state() -> Value {
    whole_object(json!({
        "state": {}, "version": whole(), "updatedAt": or_null(instant()),
    }))
}

pub(super) fn new_state() -> Value {
    object(&["state"], json!({ "state": {}, "version": or_null(whole()) }))
}

pub(super) fn saved() -> Value {
    whole_object(json!({ "version": at_least_one(), "updatedAt": instant() }))
}

pub(super) fn progress() -> Value {
    whole_object(json!({
        "level": at_least_one(), "totalXp": xp(), "currentXp": xp(),
        "xpToNextLevel": or_null(xp()), "percent": whole(),
    }))
}

pub(super) fn levels() -> Value {
    let level = object(
        &["level", "xpRequired"],
        json!({ "level": at_least_one(), "xpRequired": xp(), "creditsReward": count() }),
    );
    whole_object(json!({ "levels": list(level) }))
}

fn definition_members() -> Value {
    json!({
        "title": said(), "description": or_null(said()), "goal": at_least_one(),
        "xpReward": xp(), "creditsReward": count(),
    })
}

pub(super) fn definition() -> Value {
    object(&["title"], definition_members())
}

pub(super) fn achievement() -> Value {
    let mut members = definition_members();
    for name in ["id", "gameId", "name"] {
        members[name] = id();
    }
    whole_object(members)
}

pub(super) fn reached() -> Value {
    let mut shown = achievement();
    shown["properties"]["progress"] = count();
    shown["properties"]["unlockedAt"] = or_null(instant());
    shown["required"] = json!([
        "id",
        "gameId",
        "name",
        "title",
        "description",
        "goal",
        "xpReward",
        "creditsReward",
        "progress",
        "unlockedAt",
    ]);
    shown
}

pub(super) fn new_progress() -> Value {
    whole_object(json!({ "progress": whole() }))
}

pub(super) fn notification() -> Value {
    whole_object(json!({
        "id": id(), "type": text(), "title": text(), "message": text(),
        "metadata": any_object(), "createdAt": instant(), "readAt": or_null(instant()),
    }))
}
