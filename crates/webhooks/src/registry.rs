//! All active webhooks, prepared for matching.

use std::collections::{BTreeSet, HashMap};

use lyceum_core::{Problem, Result};
use lyceum_store::Tx;
use lyceum_store::outbox::{self, WrittenChange};
use serde_json::Value;

use crate::condition::{Condition, MatchedChange};
use crate::repository::{filters, sender, webhooks};
use crate::{limits, topics};

/// The active webhooks with their filters, as of a revision.
#[derive(Debug, Default)]
pub struct Registry {
    /// The revision of webhooks and filters that it was read from.
    pub revision: i64,
    webhooks: Vec<PreparedWebhook>,
    /// The webhooks of a sensor, by number.
    by_sensor: HashMap<String, Vec<usize>>,
    /// The webhooks without a sensor that want a topic, by number.
    by_topic: HashMap<String, Vec<usize>>,
}

#[derive(Debug)]
pub(crate) struct PreparedWebhook {
    pub(crate) id: String,
    pub(crate) owner_id: String,
    /// The conditions that do not follow from the topic.
    conditions: Vec<Condition>,
}

impl Registry {
    /// Reads all active webhooks.
    pub fn load(tx: &mut Tx<'_>) -> Result<Self> {
        let mut filters_by_webhook: HashMap<String, Vec<Condition>> = HashMap::new();
        for filter in filters::active(tx)? {
            let condition = Condition::of(&filter).map_err(Problem::internal)?;
            filters_by_webhook.entry(filter.webhook_id).or_default().push(condition);
        }
        let mut registry = Self { revision: sender::revision(tx)?, ..Self::default() };
        for (id, owner_id, sensor) in webhooks::active(tx)? {
            let conditions = filters_by_webhook.remove(&id).unwrap_or_default();
            registry.add((id, owner_id), sensor, conditions);
        }
        Ok(registry)
    }

    fn add(
        &mut self,
        (id, owner_id): (String, String),
        sensor: Option<String>,
        conditions: Vec<Condition>,
    ) {
        let (about_topic, conditions): (Vec<_>, Vec<_>) =
            conditions.into_iter().partition(Condition::is_about_topic);
        let accepts = |topic: &str| about_topic.iter().all(|one| one.accepts_topic(topic));
        let number = self.webhooks.len();
        match sensor {
            Some(sensor) if accepts(topics::CALIPER_EVENT) => {
                self.by_sensor.entry(sensor).or_default().push(number);
            }
            Some(_) => {}
            None => {
                for topic in topics::names().filter(|topic| accepts(topic)) {
                    self.by_topic.entry(topic).or_default().push(number);
                }
            }
        }
        self.webhooks.push(PreparedWebhook { id, owner_id, conditions });
    }

    /// Whether no webhook is active.
    pub fn is_empty(&self) -> bool {
        self.webhooks.is_empty()
    }

    /// The webhooks that want a change.
    pub(crate) fn receivers(&self, change: &WrittenChange) -> Result<Vec<&PreparedWebhook>> {
        let of_sensor = self.by_sensor.get(&change.sensor).filter(|_| !change.sensor.is_empty());
        let candidates = of_sensor.into_iter().chain(self.by_topic.get(&change.topic)).flatten();
        let candidates: Vec<&PreparedWebhook> =
            candidates.map(|number| &self.webhooks[*number]).collect();
        let reads_data = candidates.iter().any(|webhook| !webhook.conditions.is_empty());
        let data: Value = match reads_data {
            true => serde_json::from_str(&change.data).map_err(Problem::internal)?,
            false => Value::Null,
        };
        let (topic, object, sensor) = (&change.topic, &change.object, &change.sensor);
        let change = MatchedChange { topic, object, sensor, data: &data };
        let matches = |webhook: &&PreparedWebhook| {
            webhook.conditions.iter().all(|condition| condition.accepts(change))
        };
        Ok(candidates.into_iter().filter(matches).collect())
    }

    /// The topics that the webhooks want, with the sensor for those of one sensor.
    fn topics(&self) -> BTreeSet<(&str, &str)> {
        let sensors = self.by_sensor.keys().map(String::as_str);
        // Each transaction that announces something reads these rows, so there must be few.
        let sensors: Vec<&str> =
            match self.by_sensor.len() <= limits::WEBHOOK_TOPIC_SENSORS_MAX_COUNT {
                true => sensors.collect(),
                false => vec![""],
            };
        let of_sensors = sensors.into_iter().map(|sensor| (topics::CALIPER_EVENT, sensor));
        of_sensors.chain(self.by_topic.keys().map(|topic| (topic.as_str(), ""))).collect()
    }
}

/// Call this after each change of webhooks or filters, in its transaction: from its commit on, changes of the topics
/// that are now wanted are written to the outbox, and the sender reads the webhooks again.
pub(crate) fn changed(tx: &mut Tx<'_>) -> Result<()> {
    sender::next_revision(tx)?;
    let registry = Registry::load(tx)?;
    outbox::set_wanted_topics(tx, &registry.topics().into_iter().collect::<Vec<_>>())
}
