//! What a complete attempt earns, and where that is told: in the attempt, in the gradebook, and as an
//! event, from which facts are counted. One transaction writes all of them, so that they agree.

use lyceum_core::Result;
use lyceum_core::text::segment;
use lyceum_core::time::Timestamp;
use lyceum_events::Event;
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_store::Tx;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::attempt::{Attempt, Desk};
use crate::engine::Counts;
use crate::lesson::Lesson;
use crate::repository::attempts;
use crate::{LessonType, engine, gradebook, test_out};

/// The client in whose name the events of lessons stand in the log.
const CLIENT: &str = "lyceum";
const NAMESPACE: Uuid = Uuid::from_u128(0x1d5a_b7a2_6e34_4c9b_8a17_e2f4_90cd_3b66);

/// Completes an attempt that came to this; the score is 0 to 100.
pub(crate) fn complete(
    tx: &mut Tx<'_>,
    desk: &Desk<'_>,
    lesson: &Lesson,
    attempt: &mut Attempt,
    score: f64,
    counts: Counts,
) -> Result<()> {
    let policy = attempt.policy(tx)?;
    let base_xp = *attempt.base_xp.get_or_insert(lesson.base_xp);
    let credit = engine::credit(&policy, base_xp, attempt.number, &counts);
    attempt.score = score;
    attempt.count(counts);
    attempt.xp = Some(credit.xp);
    attempt.multiplier = Some(credit.multiplier);
    attempt.mastered = credit.mastered;
    attempt.completed = Some(desk.now);
    attempt.units = if attempt.mastered { units(tx, desk, lesson, attempt)? } else { 0 };
    tell(tx, desk, lesson, attempt)
}

/// The units that an attempt masters for the first time: its lesson, and what its test-out skips.
fn units(tx: &mut Tx<'_>, desk: &Desk<'_>, lesson: &Lesson, attempt: &Attempt) -> Result<u32> {
    let was_mastered = attempts::another_mastered(tx, attempt)?
        || !gradebook::exempt(tx, &attempt.student, &[&attempt.lesson])?.is_empty();
    let skipped = match attempt.lesson_type {
        LessonType::TestOut => test_out::skip(tx, desk, lesson, &attempt.student)?,
        _ => 0,
    };
    Ok(u32::from(!was_mastered) + skipped)
}

/// Takes back what an attempt earned, where it was told: its event is told again, earning nothing. The
/// lesson may be gone by now.
pub(crate) fn take_back(tx: &mut Tx<'_>, desk: &Desk<'_>, attempt: &Attempt) -> Result<()> {
    if attempt.lesson_type == LessonType::TestOut {
        gradebook::take_back_exemptions(tx, desk, &attempt.student, &attempt.lesson)?;
    }
    let Some(former) = lyceum_events::repository::read(tx, &name(attempt, "event"))? else {
        return Ok(());
    };
    let mut tree = former.event.content();
    for item in tree["generated"]["items"].as_array_mut().into_iter().flatten() {
        item["value"] = json!(0);
    }
    append(tx, desk, &tree, Some(former.event.send_time))
}

/// Puts the event of an attempt into the log and counts it. Told again, which happens to attempts that were
/// begun anew, it is a correction of the event that was there.
fn tell(tx: &mut Tx<'_>, desk: &Desk<'_>, lesson: &Lesson, attempt: &Attempt) -> Result<()> {
    let student = fields::in_use(tx, &USER, &attempt.student)?;
    let tree = tree(desk, lesson, attempt, fields::text(&student, "email"));
    let former = match attempt.round {
        0 => None,
        _ => lyceum_events::repository::read(tx, &name(attempt, "event"))?,
    };
    append(tx, desk, &tree, former.map(|former| former.event.send_time))
}

/// Appends an event; its `sendTime` is later than that of its former version.
fn append(tx: &mut Tx<'_>, desk: &Desk<'_>, tree: &Value, former: Option<Timestamp>) -> Result<()> {
    let least = former.map_or(i64::MIN, |sent| sent.milliseconds() + 1);
    let sent = desk.now.milliseconds().max(least);
    let sent = Timestamp::from_milliseconds(sent);
    let event = Event::read(&tree.to_string(), desk.base_url, sent)?;
    lyceum_events::append(tx, desk.now, CLIENT, &[event]).map(drop)
}

/// The name of an attempt's event, or of a part of it. With the beginning of the attempt: after the
/// course was set back there is another of that number.
fn name(attempt: &Attempt, what: &str) -> String {
    let (number, began) = (attempt.number.to_string(), attempt.started.to_string());
    let name = [what, &attempt.student, &attempt.lesson, &number, &began].join("\n");
    Uuid::new_v5(&NAMESPACE, name.as_bytes()).urn().to_string()
}

/// An `ActivityEvent` of the custom profile.
fn tree(desk: &Desk<'_>, lesson: &Lesson, attempt: &Attempt, email: &str) -> Value {
    let iri = |collection: &str, id: &str| {
        let id = segment(id);
        format!("{}/ims/oneroster/rostering/v1p2/{collection}/{id}", desk.base_url)
    };
    let item = |name: &str, value: Value| json!({ "type": name, "value": value });
    let mut actor = json!({ "id": iri("users", &attempt.student), "type": "ServiceUser" });
    if email.contains('@') {
        actor["email"] = email.into();
    }
    json!({
        "@context": "http://purl.imsglobal.org/ctx/caliper/v1p2",
        "id": name(attempt, "event"),
        "type": "ActivityEvent",
        "action": "Completed",
        "profile": "ServiceProfile",
        "eventTime": desk.now.to_string(),
        "actor": actor,
        "object": {
            "id": iri("courses/component-resources", &lesson.id),
            "type": "ServiceActivityContext",
            "subject": lesson.subject,
            "app": { "name": "Lyceum" },
            "course": { "id": iri("courses", &lesson.course.id), "name": lesson.course.title },
            "activity": { "id": lesson.id, "name": lesson.title },
        },
        "generated": {
            "id": name(attempt, "metrics"),
            "type": "ServiceActivityMetricsCollection",
            "attempt": attempt.number,
            "items": [
                item("xpEarned", gradebook::number(attempt.xp.unwrap_or(0.0))),
                item("totalQuestions", attempt.total.into()),
                item("correctQuestions", attempt.correct.into()),
                item("masteredUnits", attempt.units.into()),
            ],
        },
    })
}
