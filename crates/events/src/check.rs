//! Checks events and entities of the standard's profiles.
//!
//! The standard requires only the envelope to be valid. Events and entities are checked too, because an event that is
//! stored but cannot be counted helps nobody. A type of event has closed lists of actions and of types; entities are
//! open. Times that published sensors write (`+0000`, six digits) are accepted. A time more than a day ahead is
//! refused: the event would be in no report of its day, and no later correction would count.

use lyceum_core::text::is_uuid;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, message, messages};

use crate::custom;
use crate::event::id_of;
use crate::faults::EnvelopeErrors;
use crate::limits::{EVENT_EMAIL_MAX_BYTES, EVENT_ID_MAX_BYTES};
use crate::profiles::{self, EventType, is_custom};
use crate::tree::{Tree, TreeObject};
use crate::vocabulary::{self, EntityType, MemberShape};
use crate::{CONTEXT, CONTEXTS};

/// The members that an event may have beside [`ENTITIES`]; anything else belongs under `extensions`.
const MEMBERS: [&str; 7] =
    ["@context", "id", "type", "profile", "action", "eventTime", "extensions"];

/// The members of an event that are entities, with the types of which they are in any event.
const ENTITIES: [(&str, &[&str]); 11] = [
    ("actor", &["Agent"]),
    ("object", &["Entity"]),
    ("generated", &["Entity"]),
    ("target", &["Entity"]),
    ("referrer", &["Entity"]),
    ("edApp", &["SoftwareApplication"]),
    ("group", &["Organization"]),
    ("membership", &["Membership"]),
    ("session", &["Session"]),
    ("federatedSession", &["LtiSession"]),
    ("navigatedFrom", &["DigitalResource", "SoftwareApplication"]),
];

/// Checks one item of `data`. Returns whether it is an event; otherwise it is an entity.
pub(crate) fn item(faults: &mut EnvelopeErrors, value: &Tree<'_>) -> bool {
    let Some(object) = value.as_object() else {
        faults.here("must be an object: an event or an entity");
        return false;
    };
    let name = object.get("type").and_then(Tree::as_str).unwrap_or_default();
    let known = profiles::event_type(name);
    let acts = ["eventTime", "actor", "action"].iter().any(|member| object.has(member));
    if let Some(known) = profiles::custom_type(name) {
        custom::event(faults, object, known);
        return true;
    }
    if known.is_some() || acts {
        event(faults, object, known);
        return true;
    }
    match vocabulary::part_type(name) {
        Some(_) => part(faults, value, name),
        None => entity(faults, value, &["Entity"]),
    }
    false
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
        faults.at("type", message!("must be an event type of Caliper 1.2 (got '{name}')"));
    }
    if let Some(action) = text(faults, object, "action")
        && let Some(EventType { name, actions, .. }) = known
        && !actions.contains(&action)
    {
        let allowed = actions.join(", ");
        let allowed = if actions.len() > 20 { "the actions of Caliper 1.2" } else { &allowed };
        let message =
            message!("must be one of {allowed} in an event of the type {name} (got '{action}')");
        faults.at("action", message);
    }
    if let Some(profile) = object.get("profile") {
        match profile.as_str() {
            Some(name) if profiles::PROFILES.contains(&name) || is_custom(name, "Profile") => {}
            _ => {
                let profile = describe_value(profile);
                faults.at("profile", message!("must be a profile of Caliper 1.2 (got {profile})"));
            }
        }
    }
    let action = object.get("action").and_then(Tree::as_str).unwrap_or_default();
    for (member, types) in ENTITIES {
        let types = known.and_then(|known| known.types(action, member)).unwrap_or(types);
        match object.get(member) {
            Some(value) => faults.inside(member, |faults| entity(faults, value, types)),
            None if matches!(member, "actor" | "object") => {
                faults.at(member, messages::required("an entity or its IRI"));
            }
            None => {}
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
    let is_known = |member: &str| {
        MEMBERS.contains(&member) || ENTITIES.iter().any(|(known, _)| *known == member)
    };
    for (member, _) in object.iter().filter(|(member, _)| !is_known(member)) {
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
        None => faults.at("@context", message!("is required; send '{CONTEXT}'")),
        Some(value) => context(faults, value),
    }
    if let Some(id) = text(faults, object, "id")
        && !id.strip_prefix("urn:uuid:").is_some_and(is_uuid)
    {
        faults.at(
            "id",
            message!(
                "must be a UUID such as urn:uuid:c496e222-b8df-11e7-ba24-039ffdae3771 (got '{id}')",
                id = short(id)
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
        let wanted = message!("must be '{known}', or an array that ends with it");
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

/// Checks an entity of one of the types, or its IRI.
pub(crate) fn entity(faults: &mut EnvelopeErrors, value: &Tree<'_>, types: &[&str]) {
    let object = match value {
        Tree::Text(iri) if is_iri(iri) => return,
        Tree::Text(iri) => {
            return faults
                .here(message!("must be an entity or an IRI (got '{iri}')", iri = short(iri)));
        }
        Tree::Object(object) => object,
        _ => return faults.here("must be an entity or an IRI"),
    };
    iri(faults, object);
    let Some(name) = text(faults, object, "type") else { return };
    // A user of the custom profile is a person wherever an agent may stand.
    let known = if is_custom(name, "User") { "Person" } else { name };
    let Some(known) = vocabulary::entity_type(known) else {
        return faults.at(
            "type",
            message!("must be an entity type of Caliper 1.2 (got '{name}')", name = short(name)),
        );
    };
    if !types.iter().any(|wanted| known.is(wanted)) {
        faults.at("type", message!("must be {wanted} (got '{name}')", wanted = types.join(" or ")));
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
            message!("must be an IRI such as https://… or urn:uuid:… (got '{id}')", id = short(id));
        faults.at("id", message);
    }
}

/// Checks a value that has no id.
fn part(faults: &mut EnvelopeErrors, value: &Tree<'_>, wanted: &str) {
    let Some(object) = value.as_object() else {
        return faults.here(message!("must be an object of the type '{wanted}'"));
    };
    match (object.get("type").and_then(Tree::as_str), vocabulary::part_type(wanted)) {
        (Some(name), Some(known)) if name == wanted => members(faults, object, known),
        _ => faults.at("type", message!("must be '{wanted}'")),
    }
}

fn members(faults: &mut EnvelopeErrors, object: &TreeObject<'_>, known: &EntityType) {
    for member in known.required.iter().filter(|member| !object.has(member)) {
        faults.at(member, message!("is required in the type {known.name}"));
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
    match shape {
        MemberShape::Entity(types) => entity(faults, value, types),
        MemberShape::PartOrIri(_) if value.as_str().is_some_and(is_iri) => {}
        MemberShape::Part(name) | MemberShape::PartOrIri(name) => part(faults, value, name),
        MemberShape::List(item) => match value.as_list() {
            Some(items) => {
                for (index, value) in items.iter().enumerate() {
                    faults.item(index, |faults| member(faults, value, *item));
                }
            }
            None => faults
                .here(message!("must be an array (got {value})", value = describe_value(value))),
        },
        MemberShape::Word(words) => match value.as_str() {
            Some(word) if words.contains(&word) => {}
            Some(word) if words.len() <= 20 => {
                faults.here(messages::must_be_one_of(words, short(word)));
            }
            _ => faults.here(message!(
                "must be a word of the standard (got {value})",
                value = describe_value(value)
            )),
        },
        MemberShape::Plain(_, is_right) if is_right(value) => {}
        MemberShape::Plain(name, _) => {
            faults.here(message!("must be {name} (got {value})", value = describe_value(value)));
        }
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

pub(crate) fn not_an_instant(text: &str) -> Message {
    message!(
        "must be a UTC instant such as 2026-01-15T08:00:00.000Z (got '{text}')",
        text = short(text)
    )
}

/// Whether the text is an IRI or a blank node, within the limit.
pub(crate) fn is_iri(text: &str) -> bool {
    text.len() <= EVENT_ID_MAX_BYTES && lyceum_core::text::is_iri(text)
}

/// `P[nY][nM][nW][nD][T[nH][nM][nS]]` with at least one part (ISO 8601).
pub(crate) fn is_duration(text: &str) -> bool {
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
pub(crate) fn describe_value(value: &Tree<'_>) -> Message {
    match value {
        Tree::Text(text) => message!("'{text}'", text = short(text)),
        Tree::List(_) => "a list".into(),
        Tree::Object(_) => "an object".into(),
        Tree::Null => "null".into(),
        Tree::Truth(truth) => Message::untranslated(truth.to_string()),
        Tree::Number(number) => Message::untranslated(number.to_string()),
    }
}

/// The beginning of a text.
pub(crate) fn short(text: &str) -> &str {
    text.char_indices().nth(60).map_or(text, |(end, _)| &text[..end])
}
