//! An event, read and checked.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::check::utc_instant;
use crate::facts::{FactContext, Facts};
use crate::tree::Tree;

/// An event of an envelope, or of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// `id`, a URN or IRI.
    pub id: String,
    /// `type`, a term such as `ActivityEvent`.
    pub kind: String,
    /// `eventTime`.
    pub time: Timestamp,
    /// The envelope's `sendTime`.
    pub send_time: Timestamp,
    /// The envelope's `sensor`, an IRI.
    pub sensor: String,
    /// The IRI of the actor, which is an entity or an IRI alone.
    pub actor: String,
    /// `actor.email`; empty if it is missing.
    pub email: String,
    pub(crate) body: String,
    /// 64 bits of the hash of its id.
    pub(crate) hash: i64,
    /// The facts that it adds.
    pub(crate) facts: Facts,
}

impl Event {
    /// The person whom it is about: the e-mail address, else the actor's IRI.
    pub fn person(&self) -> &str {
        if self.email.is_empty() { &self.actor } else { &self.email }
    }

    /// Reads an event that was checked: its text, and what the envelope says. Errors: no JSON.
    pub fn read(body: &str, sensor: &str, send_time: Timestamp) -> Result<Self> {
        let tree: Tree<'_> = serde_json::from_str(body).map_err(Problem::internal)?;
        Ok(Self::of(&tree, body, sensor, send_time))
    }

    /// The event that stands in the text, which was read as the tree.
    pub(crate) fn of(tree: &Tree<'_>, body: &str, sensor: &str, send_time: Timestamp) -> Self {
        let text = |value: &Tree<'_>| value.as_str().unwrap_or_default().to_owned();
        let time = tree["eventTime"].as_str().and_then(utc_instant).unwrap_or(send_time);
        let id = text(&tree["id"]);
        Self {
            hash: hash(&id),
            id,
            kind: text(&tree["type"]),
            time,
            send_time,
            sensor: sensor.to_owned(),
            actor: id_of(&tree["actor"]).unwrap_or_default().to_owned(),
            email: text(&tree["actor"]["email"]),
            body: body.to_owned(),
            facts: Facts::of(tree, time),
        }
    }

    /// The event exactly as it was sent.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The event as a tree. Names of the custom profile are as they were sent.
    pub fn content(&self) -> Value {
        serde_json::from_str(&self.body).expect(IS_JSON)
    }

    pub(crate) fn tree(&self) -> Tree<'_> {
        serde_json::from_str(&self.body).expect(IS_JSON)
    }

    /// The course, subject and app of the event; empty if it adds nothing.
    pub fn context(&self) -> FactContext {
        self.facts.context.as_ref().map(|(_, context)| context.clone()).unwrap_or_default()
    }
}

/// Why the text of an event can be read.
const IS_JSON: &str = "an event is made of JSON that was read";

/// 64 bits of the hash of an id.
pub(crate) fn hash(id: &str) -> i64 {
    let digest = Sha256::digest(id.as_bytes());
    i64::from_be_bytes(digest[..8].try_into().expect("a SHA-256 has more than 8 bytes"))
}

/// An entity that an envelope describes outside an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// `id`, an IRI.
    pub id: String,
    /// The entity exactly as it was sent.
    pub body: String,
}

/// The IRI of an entity, which is an object with an `id` or an IRI alone.
pub(crate) fn id_of<'t>(entity: &'t Tree<'_>) -> Option<&'t str> {
    entity.as_str().or_else(|| entity["id"].as_str())
}

/// The id in an IRI that ends in a collection's path and an id, such as `…/users/u-1`,
/// percent-decoded; any other text is the id itself.
pub fn local_id(iri: &str, collection: &str) -> String {
    let Some((_, id)) = iri.rsplit_once(collection) else { return iri.to_owned() };
    let id = id.trim_end_matches('/');
    percent_encoding::percent_decode_str(id).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::local_id;

    #[test]
    fn ids_are_read_from_iris_or_used_unchanged() {
        let id = |text| local_id(text, "/users/");
        assert_eq!(id("https://a.example/ims/oneroster/rostering/v1p2/users/u%2F1"), "u/1");
        assert_eq!(id("https://a.example/users/u-1/"), "u-1");
        assert_eq!(id("u-1"), "u-1");
        assert_eq!(id("urn:uuid:1"), "urn:uuid:1");
    }
}
