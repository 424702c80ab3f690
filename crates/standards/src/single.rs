//! Reads single frameworks, items and associations.

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::class::Class;
use crate::fault::{Faults, Path};
use crate::record::{CheckedRecord, check, is_uuid};

/// A record that was sent alone.
#[derive(Clone, Debug)]
pub struct SentRecord {
    pub(crate) record: crate::record::Record,
    pub(crate) known: Map<String, Value>,
    /// The framework that it names in `CFDocumentURI`.
    pub(crate) framework: Option<String>,
    /// Whether the client sent its time of change.
    pub(crate) has_time: bool,
}

/// Reads a record, with or without its wrapper key. A missing `identifier`, `uri` or `lastChangeDateTime` is
/// added; `at` is the address of the records of the class. If the identifier is known already (`named`), another
/// one is rejected. Errors: `Malformed`; `Invalid` with each error.
pub fn read(
    class: &'static Class,
    body: &[u8],
    named: Option<&str>,
    at: &str,
    now: Timestamp,
) -> Result<SentRecord> {
    let malformed = |message: Message| Problem::new(ProblemKind::Malformed, message);
    let mut value: Value = serde_json::from_slice(body)
        .map_err(|error| malformed(message!("the body is not JSON: {error}")))?;
    if value.as_object().is_some_and(|members| members.len() == 1)
        && let Some(inner) = value.get_mut(class.name)
    {
        value = inner.take();
    }
    let Value::Object(mut sent) = value else {
        return Err(malformed(message!("the body must be a {class.name} as a JSON object")));
    };
    sent.retain(|_, value| !value.is_null());
    let mut faults = Faults::default();
    let path = Path::Record(class.name, None);
    let framework = match class.owner.filter(|owner| *owner == "CFDocumentURI") {
        None => None,
        Some(owner) => framework(sent.get(owner), &Path::Member(&path, owner), &mut faults),
    };
    if !sent.contains_key("sourcedId") && !sent.contains_key("identifier") {
        let id = named.map_or_else(|| Uuid::now_v7().to_string(), str::to_owned);
        sent.insert("identifier".to_owned(), id.into());
    }
    let id = sent.get("identifier").or(sent.get("sourcedId")).and_then(Value::as_str);
    let id = id.unwrap_or_default().to_owned();
    if named.is_some_and(|named| named != id) {
        let message = message!("must be the identifier of the path (got '{id}')");
        faults.add(Path::Member(&path, "identifier"), message);
    }
    let has_time = sent.contains_key("lastChangeDateTime");
    sent.entry("uri").or_insert_with(|| json!(format!("{at}/{id}")));
    sent.entry("lastChangeDateTime").or_insert_with(|| json!(now.to_string()));
    let checked = check(class, Value::Object(sent), &path, &mut faults);
    faults.refuse()?;
    let (record, known): CheckedRecord = checked.expect("a record without a fault is answered");
    Ok(SentRecord { record, known, framework, has_time })
}

fn framework(sent: Option<&Value>, path: &Path<'_>, faults: &mut Faults) -> Option<String> {
    let link = sent?;
    let id = link.get("identifier").or(link.get("sourcedId")).and_then(Value::as_str);
    match id.filter(|id| is_uuid(id)) {
        Some(id) => Some(id.to_owned()),
        None => {
            faults.add(Path::Member(path, "identifier"), "must be the UUID of a framework");
            None
        }
    }
}

impl SentRecord {
    /// Its identifier.
    pub fn id(&self) -> &str {
        &self.record.id
    }
}
