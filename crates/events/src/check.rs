//! Checks events and entities of the standard's profiles.

use lyceum_core::messages;
use lyceum_core::text::is_uuid;
use lyceum_core::time::Timestamp;

use crate::custom;
use crate::event::id_of;
use crate::faults::EnvelopeErrors;
use crate::limits::{EVENT_EMAIL_MAX_BYTES, EVENT_ID_MAX_BYTES};
use crate::profiles::{self, EventType, is_custom};
use crate::tree::{Tree, TreeObject};
use crate::vocabulary::{self, EntityType, MemberShape};
use crate::{CONTEXT, CONTEXTS};

/// The members that an event may have; anything else belongs under `extensions`.
const MEMBERS: [&str; 18] = [
    "@context",
    "id",
    "type",
    "profile",
    "actor",
    "action",
    "object",
    "eventTime",
    "edApp",
    "generated",
    "target",
    "referrer",
    "group",
    "membership",
    "session",
    "federatedSession",
    "extensions",
    "navigatedFrom",
];

/// The sort of an item of `data`.
pub(crate) enum DataItemKind {
    Event,
    Entity,
}

/// Checks one item of `data`.
pub(crate) fn item(faults: &mut EnvelopeErrors, value: &Tree<'_>) -> DataItemKind {
    let Some(object) = value.as_object() else {
        faults.here("must be an object: an event or an entity");
        return DataItemKind::Entity;
    };
    let name = object.get("type").and_then(Tree::as_str);
    let acts = ["eventTime", "actor", "action"].iter().any(|member| object.has(member));
    match name {
        Some(name) if profiles::CUSTOM.iter().any(|(known, ..)| *known == name) => {
            custom::event(faults, object);
            DataItemKind::Event
        }
        Some(name) if profiles::event_type(name).is_some() || acts => {
            event(faults, object, profiles::event_type(name));
            DataItemKind::Event
        }
        None if acts => {
            event(faults, object, None);
            DataItemKind::Event
        }
        Some(name) if vocabulary::part_type(name).is_some() => {
            part(faults, value, name);
            DataItemKind::Entity
        }
        _ => {
            entity(faults, value, &["Entity"]);
            DataItemKind::Entity
        }
    }
}

fn event(faults: &mut EnvelopeErrors, object: &TreeObject<'_>, known: Option<&EventType>) {
    head(faults, object, instant);
    if let Some(email) = object.get("actor").and_then(|actor| actor["email"].as_str())
        && (email.len() > EVENT_EMAIL_MAX_BYTES || email.contains('\0'))
    {
        faults.at("actor.email", "must be an e-mail address");
    }
    let name = text(faults, object, "type");
    if let (Some(name), None) = (name, known) {
        faults.at("type", format!("must be an event type of Caliper 1.2 (got '{name}')"));
    }
    if let Some(action) = text(faults, object, "action")
        && let Some(known) = known
        && !known.actions.contains(&action)
    {
        let allowed = known.actions.join(", ");
        let allowed =
            if known.actions.len() > 20 { "the actions of Caliper 1.2" } else { &allowed };
        faults.at(
            "action",
            format!(
                "must be one of {allowed} in an event of the type {} (got '{action}')",
                known.name
            ),
        );
    }
    if let Some(profile) = object.get("profile") {
        match profile.as_str() {
            Some(name) if profiles::PROFILES.contains(&name) || is_custom(name, "Profile") => {}
            _ => faults.at("profile", format!("must be a profile of Caliper 1.2 (got {profile})")),
        }
    }
    let action = object.get("action").and_then(Tree::as_str).unwrap_or_default();
    let types = |member| known.map_or(&["Entity"][..], |known| known.types(action, member));
    required(faults, object, "actor", known.map_or(&["Agent"], |_| types("actor")));
    required(faults, object, "object", types("object"));
    let optional: [(&str, &[&str]); 9] = [
        ("generated", types("generated")),
        ("target", types("target")),
        ("referrer", types("referrer")),
        ("edApp", &["SoftwareApplication"]),
        ("group", &["Organization"]),
        ("membership", &["Membership"]),
        ("session", &["Session"]),
        ("federatedSession", &["LtiSession"]),
        ("navigatedFrom", &["DigitalResource", "SoftwareApplication"]),
    ];
    for (member, types) in optional {
        if let Some(value) = object.get(member) {
            faults.inside(member, |faults| entity(faults, value, types));
        }
    }
    if object.get("extensions").is_some_and(|value| value.as_object().is_none()) {
        faults.at("extensions", messages::MUST_BE_OBJECT);
    }
    let launched = known.is_some_and(|known| known.name == "ToolLaunchEvent")
        && object.get("action").is_some_and(|action| action.as_str() == Some("Launched"));
    if launched && !object.has("federatedSession") {
        faults.at("federatedSession", messages::required("the LtiSession that the launch started"));
    }
    for (member, _) in object.iter().filter(|(member, _)| !MEMBERS.contains(member)) {
        faults.at(member, "is not a member of an event; move it to 'extensions'");
    }
}

/// Checks what all events share: context, id, ids of other records, and the time, which `instant` parses as the
/// profile requires.
pub(crate) fn head(
    faults: &mut EnvelopeErrors,
    object: &TreeObject<'_>,
    instant: fn(&str) -> Option<Timestamp>,
) {
    match object.get("@context") {
        None => faults.at("@context", format!("is required; send '{CONTEXT}'")),
        Some(value) => context(faults, value),
    }
    if let Some(id) = text(faults, object, "id")
        && !id.strip_prefix("urn:uuid:").is_some_and(is_uuid)
    {
        faults.at(
            "id",
            format!(
                "must be a UUID such as urn:uuid:c496e222-b8df-11e7-ba24-039ffdae3771 (got '{}')",
                short(id)
            ),
        );
    }
    if let Some(time) = text(faults, object, "eventTime")
        && instant(time).is_none()
    {
        faults.at("eventTime", not_an_instant(time));
    }
    let member = |name| object.get(name).unwrap_or(&Tree::Null);
    let course = member("extensions")["courseId"].as_str();
    if course.is_some_and(|id| id.contains('\0')) {
        faults.at("extensions.courseId", HAS_NUL);
    }
    // Ids are read from IRIs, percent-decoded.
    for (path, iri) in [
        ("actor.id", id_of(member("actor"))),
        ("object.course", id_of(&member("object")["course"])),
        ("extensions.courseId", course),
    ] {
        if iri.is_some_and(|iri| iri.contains("%00")) {
            faults.at(path, HAS_NUL);
        }
    }
}

/// The message for a text that the store cannot keep.
const HAS_NUL: &str = messages::MUST_NOT_CONTAIN_NUL;

fn context(faults: &mut EnvelopeErrors, value: &Tree<'_>) {
    let is_ours = |name: Option<&str>| name.is_some_and(|name| CONTEXTS.contains(&name));
    let right = match value {
        Tree::Text(name) => is_ours(Some(name)),
        Tree::List(names) => names.last().is_some_and(|name| is_ours(name.as_str())),
        Tree::Object(_) => true,
        _ => false,
    };
    if !right {
        let known = CONTEXTS.join("' or '");
        let wanted = format!("must be '{known}', or an array that ends with it");
        faults.at("@context", wanted);
    }
}

/// A member that must be text.
pub(crate) fn text<'a>(
    faults: &mut EnvelopeErrors,
    object: &'a TreeObject<'_>,
    member: &str,
) -> Option<&'a str> {
    match object.get(member) {
        Some(Tree::Text(text)) if text.is_empty() => faults.at(member, messages::MUST_NOT_BE_EMPTY),
        Some(Tree::Text(text)) if text.contains('\0') => faults.at(member, HAS_NUL),
        Some(Tree::Text(text)) => return Some(text),
        Some(Tree::Null) | None => faults.at(member, messages::required("a string")),
        Some(_) => faults.at(member, messages::MUST_BE_STRING),
    }
    None
}

fn required(faults: &mut EnvelopeErrors, object: &TreeObject<'_>, member: &str, types: &[&str]) {
    match object.get(member) {
        Some(value) => faults.inside(member, |faults| entity(faults, value, types)),
        None => faults.at(member, messages::required("an entity or its IRI")),
    }
}

/// Checks an entity of one of the types, or its IRI.
pub(crate) fn entity(faults: &mut EnvelopeErrors, value: &Tree<'_>, types: &[&str]) {
    let object = match value {
        Tree::Text(iri) if is_iri(iri) => return,
        Tree::Text(iri) => {
            return faults.here(format!("must be an entity or an IRI (got '{}')", short(iri)));
        }
        Tree::Object(object) => object,
        _ => return faults.here("must be an entity or an IRI"),
    };
    iri(faults, object);
    let Some(name) = text(faults, object, "type") else { return };
    // A user of the custom profile is a person wherever an agent may stand.
    let known = if is_custom(name, "User") { "Person" } else { name };
    let Some(known) = vocabulary::entity_type(known) else {
        return faults
            .at("type", format!("must be an entity type of Caliper 1.2 (got '{}')", short(name)));
    };
    if !types.iter().any(|wanted| known.is(wanted)) {
        faults.at("type", format!("must be {} (got '{name}')", types.join(" or ")));
        return;
    }
    members(faults, object, known);
}

/// Checks the id of an entity.
pub(crate) fn iri(faults: &mut EnvelopeErrors, object: &TreeObject<'_>) {
    if let Some(id) = text(faults, object, "id")
        && !is_iri(id)
    {
        let message =
            format!("must be an IRI such as https://… or urn:uuid:… (got '{}')", short(id));
        faults.at("id", message);
    }
}

/// Checks a value that has no id.
fn part(faults: &mut EnvelopeErrors, value: &Tree<'_>, wanted: &str) {
    let Some(object) = value.as_object() else {
        return faults.here(format!("must be an object of the type '{wanted}'"));
    };
    match (object.get("type").and_then(Tree::as_str), vocabulary::part_type(wanted)) {
        (Some(name), Some(known)) if name == wanted => members(faults, object, known),
        _ => faults.at("type", format!("must be '{wanted}'")),
    }
}

fn members(faults: &mut EnvelopeErrors, object: &TreeObject<'_>, known: &EntityType) {
    for member in known.required.iter().filter(|member| !object.has(member)) {
        faults.at(member, format!("is required in the type {}", known.name));
    }
    for (name, value) in object.iter() {
        if name == "@context" {
            context(faults, value);
        } else if let Some(shape) = known.member(name) {
            faults.inside(name, |faults| member(faults, value, shape));
        }
    }
}

fn member(faults: &mut EnvelopeErrors, value: &Tree<'_>, shape: MemberShape) {
    let wanted = match shape {
        MemberShape::Entity(types) => return entity(faults, value, types),
        MemberShape::Part(name) => return part(faults, value, name),
        MemberShape::Entities(types) => {
            return list(faults, value, |faults, item| entity(faults, item, types));
        }
        MemberShape::Parts(name) => {
            return list(faults, value, |faults, item| match item.as_str() {
                Some(iri) if is_iri(iri) => {}
                _ => part(faults, item, name),
            });
        }
        MemberShape::Texts => {
            return list(faults, value, |faults, item| member(faults, item, MemberShape::Text));
        }
        MemberShape::Words(words) => {
            return list(faults, value, |faults, item| {
                member(faults, item, MemberShape::Word(words));
            });
        }
        MemberShape::Text if value.as_str().is_some() => return,
        MemberShape::Truth if matches!(value, Tree::Truth(_)) => return,
        MemberShape::TextOrTruth if matches!(value, Tree::Text(_) | Tree::Truth(_)) => return,
        MemberShape::Whole if value.is_whole() => return,
        MemberShape::Number if matches!(value, Tree::Number(_)) => return,
        MemberShape::Free if value.as_object().is_some() => return,
        MemberShape::Instant if value.as_str().and_then(instant).is_some() => return,
        MemberShape::Duration if value.as_str().is_some_and(is_duration) => return,
        MemberShape::Word(words) if value.as_str().is_some_and(|word| words.contains(&word)) => {
            return;
        }
        MemberShape::Text => "a string",
        MemberShape::Truth => "true or false",
        MemberShape::TextOrTruth => "a string, true or false",
        MemberShape::Whole => "a whole number",
        MemberShape::Number => "a number",
        MemberShape::Free => "an object",
        MemberShape::Instant => "an instant such as 2026-01-15T08:00:00.000Z",
        MemberShape::Duration => "a duration such as PT5M30S",
        MemberShape::Word(words) => {
            let message = match value.as_str() {
                Some(got) if words.len() <= 20 => messages::must_be_one_of(words, short(got)),
                _ => format!("must be a word of the standard (got {})", describe_value(value)),
            };
            return faults.here(message);
        }
    };
    faults.here(format!("must be {wanted} (got {})", describe_value(value)));
}

fn list(
    faults: &mut EnvelopeErrors,
    value: &Tree<'_>,
    check: impl Fn(&mut EnvelopeErrors, &Tree<'_>),
) {
    let Some(items) = value.as_list() else {
        return faults.here(format!("must be an array (got {})", describe_value(value)));
    };
    for (index, item) in items.iter().enumerate() {
        faults.item(index, |faults| check(faults, item));
    }
}

/// A UTC instant: a date, `T`, a time with or without a fraction, `Z`.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    let shaped = text.len() >= 20 && text.as_bytes()[10] == b'T' && text.ends_with('Z');
    if shaped { text.parse().ok() } else { None }
}

/// A UTC instant of RFC 3339: as [`instant`], or with letters in lower case or an offset of zero. The offset
/// may lack its colon, as the published sensors for Caliper 1.1 write it (`+0000`, ISO 8601 basic form).
pub(crate) fn utc_instant(text: &str) -> Option<Timestamp> {
    let basic = ["+0000", "-0000"].iter().find_map(|zone| text.strip_suffix(zone));
    let whole = basic.map(|local| format!("{local}Z"));
    let text = whole.as_deref().unwrap_or(text);
    let shaped = text.len() >= 20
        && matches!(text.as_bytes()[10], b'T' | b't')
        && text.as_bytes()[16] == b':'
        && ["Z", "z", "+00:00", "-00:00"].iter().any(|zone| text.ends_with(zone));
    if shaped { text.parse().ok() } else { None }
}

pub(crate) fn not_an_instant(text: &str) -> String {
    format!("must be a UTC instant such as 2026-01-15T08:00:00.000Z (got '{}')", short(text))
}

/// Whether the text is an IRI or a blank node, within the limit.
pub(crate) fn is_iri(text: &str) -> bool {
    text.len() <= EVENT_ID_MAX_BYTES && lyceum_core::text::is_iri(text)
}

/// `P[nY][nM][nW][nD][T[nH][nM][nS]]` with at least one part (ISO 8601).
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('P') else { return false };
    let (date, time) = match rest.split_once('T') {
        Some((_, "")) => return false,
        Some((date, time)) => (date, time),
        None => (rest, ""),
    };
    !rest.is_empty() && in_order(date, "YMWD") && in_order(time, "HMS")
}

/// Whether the text is numbers, each followed by a unit, in the order of the units.
fn in_order(text: &str, units: &str) -> bool {
    let mut units = units.chars();
    text.split_inclusive(|c: char| c.is_ascii_alphabetic()).all(|part| {
        let Some(unit) = part.chars().last() else { return false };
        let number = &part[..part.len() - unit.len_utf8()];
        number.starts_with(|c: char| c.is_ascii_digit())
            && number.chars().all(|c| c.is_ascii_digit() || c == '.')
            && units.any(|known| known == unit)
    })
}

/// A value as a message shows it.
pub(crate) fn describe_value(value: &Tree<'_>) -> String {
    match value {
        Tree::Text(text) => format!("'{}'", short(text)),
        Tree::List(_) => "a list".to_owned(),
        Tree::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}

/// The beginning of a text.
pub(crate) fn short(text: &str) -> &str {
    text.char_indices().nth(60).map_or(text, |(end, _)| &text[..end])
}
