//! An event, read and checked.

use lyceum_core::time::Timestamp;
use serde_json::Value;

/// One event of an envelope, or of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// `id`, a URN or IRI.
    pub id: String,
    /// `eventTime`.
    pub time: Timestamp,
    /// The envelope's `sendTime`.
    pub send_time: Timestamp,
    /// The envelope's `sensor`, an IRI.
    pub sensor: String,
    /// The event as a tree. Names of the custom profile are as they were sent.
    pub tree: Value,
    /// The event exactly as it was sent.
    pub body: String,
}

impl Event {
    /// `type`, a term such as `ActivityEvent`.
    pub fn kind(&self) -> &str {
        self.tree["type"].as_str().unwrap_or_default()
    }

    /// `action`, a term such as `Completed`.
    pub fn action(&self) -> &str {
        self.tree["action"].as_str().unwrap_or_default()
    }

    /// `profile`, where there is one.
    pub fn profile(&self) -> Option<&str> {
        self.tree["profile"].as_str()
    }

    /// The IRI of the actor, which is an entity or an IRI alone.
    pub fn actor_id(&self) -> &str {
        id_of(&self.tree["actor"]).unwrap_or_default()
    }

    /// `actor.email`, where there is one.
    pub fn actor_email(&self) -> Option<&str> {
        self.tree["actor"]["email"].as_str()
    }

    /// The IRI of `object.course`, else `extensions.courseId`, where there is one.
    pub fn course(&self) -> Option<&str> {
        id_of(&self.tree["object"]["course"])
            .or_else(|| self.tree["extensions"]["courseId"].as_str())
    }

    /// The metrics of the custom profile: type and value of each of `generated.items`.
    pub fn metrics(&self) -> impl Iterator<Item = (&str, &Value)> {
        let items = self.tree["generated"]["items"].as_array();
        items
            .into_iter()
            .flatten()
            .filter_map(|item| Some((item["type"].as_str()?, &item["value"])))
    }
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
pub(crate) fn id_of(entity: &Value) -> Option<&str> {
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
    fn ids_are_read_from_iris_and_taken_as_they_are() {
        let id = |text| local_id(text, "/users/");
        assert_eq!(id("https://a.example/ims/oneroster/rostering/v1p2/users/u%2F1"), "u/1");
        assert_eq!(id("https://a.example/users/u-1/"), "u-1");
        assert_eq!(id("u-1"), "u-1");
        assert_eq!(id("urn:uuid:1"), "urn:uuid:1");
    }
}
