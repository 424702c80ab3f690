//! Points for responses.

use super::machine::RuleMachine;
use crate::model::{AreaMapping, MapEntry, Mapping};
use crate::value::{Scalar, Value};

impl RuleMachine<'_, '_> {
    /// `qti-map-response`: the points that the mapping gives to the response. In a container, each distinct value counts
    /// once, and the points are added. An empty response gets 0. Returns NULL if the variable has no mapping.
    pub(super) fn map_response(&mut self, name: &str) -> Value {
        let Some(variable) = self.variables.get(name) else { return Value::Null };
        let Some(mapping) = variable.response.and_then(|r| r.mapping.as_ref()) else {
            return Value::Null;
        };
        let work = variable.value.scalars().len() * (mapping.entries.len() + 1) / 16;
        if !self.charge(work) {
            return Value::Null;
        }
        let value = self.variables.get(name).map_or(&Value::Null, |variable| &*variable.value);
        let mut seen: Vec<&Scalar> = Vec::new();
        let mut sum = 0.0;
        for scalar in value.scalars() {
            if !seen.contains(&scalar) {
                seen.push(scalar);
                sum += points(mapping, scalar);
            }
        }
        Value::float(bounded(sum, mapping.lower, mapping.upper))
    }

    /// `qti-map-response-point`: each area counts once, however many points lie in it; a point in no
    /// area counts the default.
    #[expect(clippy::cast_precision_loss, reason = "pixels are far below 2^53")]
    pub(super) fn map_response_point(&mut self, name: &str) -> Value {
        let Some(variable) = self.variables.get(name) else { return Value::Null };
        let Some(mapping) = variable.response.and_then(|r| r.area_mapping.as_ref()) else {
            return Value::Null;
        };
        let AreaMapping { entries, default, lower, upper } = mapping;
        let work = variable.value.scalars().len() * entries.len() / 16;
        if !self.charge(work) {
            return Value::Null;
        }
        let value = self.variables.get(name).map_or(&Value::Null, |variable| &*variable.value);
        let mut counted = vec![false; entries.len()];
        let mut sum = 0.0;
        for scalar in value.scalars() {
            let Scalar::Point(x, y) = scalar else { return Value::Null };
            match entries.iter().position(|entry| entry.area.holds(*x as f64, *y as f64)) {
                Some(at) if counted[at] => {}
                Some(at) => {
                    counted[at] = true;
                    sum += entries[at].mapped;
                }
                None => sum += default,
            }
        }
        Value::float(bounded(sum, *lower, *upper))
    }
}

fn points(mapping: &Mapping, scalar: &Scalar) -> f64 {
    let exact = mapping.entries.iter().find(|entry| entry.key == *scalar);
    let entry = exact.or_else(|| mapping.entries.iter().find(|entry| is_key(entry, scalar)));
    entry.map_or(mapping.default, |entry| entry.mapped)
}

/// Strings in which only the case of letters differs, where the entry does not mind.
fn is_key(entry: &MapEntry, scalar: &Scalar) -> bool {
    match (&entry.key, scalar) {
        (Scalar::String(key), Scalar::String(text)) if !entry.case_sensitive => {
            key.to_lowercase() == text.to_lowercase()
        }
        _ => false,
    }
}

fn bounded(sum: f64, lower: Option<f64>, upper: Option<f64>) -> f64 {
    let sum = lower.map_or(sum, |lower| sum.max(lower));
    upper.map_or(sum, |upper| sum.min(upper))
}
