//! JSON that was signed: read so that two readers cannot see different things in it.

use lyceum_core::json::refuse_repeated_keys;
use lyceum_core::limits::JSON_MAX_DEPTH;
use lyceum_core::message;
use lyceum_core::problem::{Problem, ProblemKind, Result};
use serde_json::Value;

/// Reads JSON. Errors: it is malformed, is nested deeper than the limit, or an object has a member
/// twice, of which each reader would take another.
pub fn read(bytes: &[u8]) -> Result<Value> {
    refuse_repeated_keys(bytes)?;
    let malformed = |fault: &dyn std::fmt::Display| {
        Problem::new(ProblemKind::Malformed, message!("the JSON cannot be read: {fault}"))
    };
    let value = serde_json::from_slice(bytes).map_err(|fault| malformed(&fault))?;
    match is_deeper(&value, JSON_MAX_DEPTH) {
        true => Err(malformed(&format_args!("more than {JSON_MAX_DEPTH} levels"))),
        false => Ok(value),
    }
}

/// Whether lists and objects stand in each other on more levels than that.
fn is_deeper(value: &Value, levels: usize) -> bool {
    let below = |member: &Value| is_deeper(member, levels.saturating_sub(1));
    match value {
        Value::Array(members) => levels == 0 || members.iter().any(below),
        Value::Object(members) => levels == 0 || members.values().any(below),
        _ => false,
    }
}
