//! Checks events of the custom profile: `ActivityEvent` and `TimeSpentEvent`.

use crate::check::{
    describe_value, entity, head, iri, is_iri, not_an_instant, short, text, utc_instant,
};
use crate::faults::EnvelopeErrors;
use crate::limits::{EVENT_EMAIL_MAX_BYTES, EVENT_METRIC_MAX_COUNT};
use crate::profiles::{CustomType, is_custom};
use crate::tree::{Tree, TreeObject, is_whole};
use crate::words::words;
use lyceum_core::{message, messages};

/// Checks an event of the custom profile. Members that the profile does not have are kept.
pub(crate) fn event(faults: &mut EnvelopeErrors, object: &TreeObject<'_>, known: &CustomType) {
    let CustomType { name, action: wanted, collection, metrics } = known;
    head(faults, object, utc_instant);
    if let Some(action) = text(faults, object, "action")
        && action != *wanted
    {
        let action = short(action);
        let message = message!("must be {wanted} in an event of the type {name} (got '{action}')");
        faults.at("action", message);
    }
    term(faults, object, "profile", "Profile");
    part(faults, object, "actor", actor);
    part(faults, object, "object", context);
    part(faults, object, "generated", |faults, generated| {
        term(faults, generated, "type", collection);
        if generated.get("id").is_some_and(|id| !matches!(id, Tree::Null)) {
            iri(faults, generated);
        }
        items(faults, generated, metrics);
    });
    for member in words![edApp target referrer group membership session federatedSession] {
        match object.get(member) {
            None | Some(Tree::Null | Tree::Object(_)) => {}
            Some(Tree::Text(iri)) if is_iri(iri) => {}
            Some(other) => {
                let message = message!(
                    "must be an entity or an IRI (got {value})",
                    value = describe_value(other)
                );
                faults.at(member, message);
            }
        }
    }
    if object.get("extensions").is_some_and(|it| !matches!(it, Tree::Object(_) | Tree::Null)) {
        faults.at("extensions", messages::MUST_BE_OBJECT);
    }
}

/// Checks a member that must be an object.
fn part(
    faults: &mut EnvelopeErrors,
    object: &TreeObject<'_>,
    member: &str,
    check: impl FnOnce(&mut EnvelopeErrors, &TreeObject<'_>),
) {
    match object.get(member) {
        Some(Tree::Object(part)) => faults.inside(member, |faults| check(faults, part)),
        Some(Tree::Null) | None => faults.at(member, messages::required("an object")),
        Some(_) => faults.at(member, messages::MUST_BE_OBJECT),
    }
}

/// Checks that a member names a term of the profile, in either spelling.
fn term(faults: &mut EnvelopeErrors, object: &TreeObject<'_>, member: &str, wanted: &str) {
    if let Some(name) = text(faults, object, member)
        && !is_custom(name, wanted)
    {
        let message = message!(
            "must be 'Service{wanted}' or 'Timeback{wanted}' (got '{name}')",
            name = short(name)
        );
        faults.at(member, message);
    }
}

fn actor(faults: &mut EnvelopeErrors, actor: &TreeObject<'_>) {
    iri(faults, actor);
    term(faults, actor, "type", "User");
    match actor.get("email") {
        None | Some(Tree::Null) => {}
        Some(Tree::Text(email)) if is_email(email) => {}
        Some(_) => faults.at("email", "must be an e-mail address"),
    }
}

/// Whether the text has the form of an e-mail address. The address may not exist.
fn is_email(text: &str) -> bool {
    let (name, host) = text.split_once('@').unwrap_or_default();
    !name.is_empty()
        && !host.is_empty()
        && text.len() <= EVENT_EMAIL_MAX_BYTES
        && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}

fn context(faults: &mut EnvelopeErrors, object: &TreeObject<'_>) {
    iri(faults, object);
    term(faults, object, "type", "ActivityContext");
    text(faults, object, "subject");
    part(faults, object, "app", |faults, app| {
        text(faults, app, "name");
    });
    for member in ["course", "activity"] {
        match object.get(member) {
            None | Some(Tree::Null) => {}
            // Its id may be an IRI or the sourcedId alone.
            Some(Tree::Object(named)) => faults.inside(member, |faults| {
                let has_id = named.get("id").is_some_and(|id| !matches!(id, Tree::Null));
                text(faults, named, if has_id { "id" } else { "name" });
            }),
            Some(other) => faults.inside(member, |faults| entity(faults, other, &["Entity"])),
        }
    }
}

fn items(faults: &mut EnvelopeErrors, generated: &TreeObject<'_>, metrics: &[&str]) {
    if let Some(attempt) = generated.get("attempt").filter(|attempt| !matches!(attempt, Tree::Null))
        && (!is_whole(attempt) || attempt.as_f64() == Some(0.0))
    {
        faults.at("attempt", "must be a whole number of at least 1");
    }
    let Some(items) = generated.get("items").and_then(Tree::as_list) else {
        return faults.at("items", "must be an array of metrics");
    };
    faults.inside("items", |faults| {
        for (index, item) in items.iter().enumerate() {
            faults.item(index, |faults| match item.as_object() {
                Some(item) => metric(faults, item, metrics),
                None => faults.here(messages::MUST_BE_OBJECT),
            });
        }
        more_answers_than_questions(faults, items);
    });
}

/// Rejects more correct answers than questions if an event has both.
fn more_answers_than_questions(faults: &mut EnvelopeErrors, items: &[Tree<'_>]) {
    // The sum of a metric, and the place of its last item.
    let total = |name: &str| {
        let values =
            items.iter().enumerate().filter(|(_, item)| item["type"].as_str() == Some(name));
        let values = values.filter_map(|(at, item)| Some((at, item["value"].as_f64()?)));
        values.reduce(|(_, sum), (at, value)| (at, sum + value))
    };
    let (Some((_, asked)), Some((at, correct))) =
        (total("totalQuestions"), total("correctQuestions"))
    else {
        return;
    };
    if correct > asked && asked >= 0.0 {
        let message = message!(
            "must be at most totalQuestions, {asked} (got {correct}); count every question that \
             was asked in totalQuestions"
        );
        faults.item(at, |faults| faults.at("value", message));
    }
}

fn metric(faults: &mut EnvelopeErrors, item: &TreeObject<'_>, metrics: &[&str]) {
    let name = text(faults, item, "type");
    if let Some(name) = name
        && !metrics.contains(&name)
    {
        faults.at("type", messages::must_be_one_of(metrics, short(name)));
    }
    let most = f64::from(EVENT_METRIC_MAX_COUNT);
    // Experience may be taken back; time and counts cannot.
    let least = if name == Some("xpEarned") { -most } else { 0.0 };
    match item.get("value").and_then(Tree::as_f64) {
        Some(value) if (least..=most).contains(&value) => {}
        Some(_) => faults.at("value", message!("must be between {least} and {most}")),
        None => faults.at("value", messages::MUST_BE_NUMBER),
    }
    for member in ["startDate", "endDate", "start_date", "end_date"] {
        match item.get(member) {
            None | Some(Tree::Null) => {}
            Some(Tree::Text(time)) if utc_instant(time).is_some() => {}
            Some(Tree::Text(time)) => faults.at(member, not_an_instant(time)),
            Some(_) => faults.at(member, messages::MUST_BE_STRING),
        }
    }
}
