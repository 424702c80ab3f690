//! The check of the read replica.

use std::time::Duration;

use lyceum_core::ProblemKind;
use lyceum_store::limits::READ_REPLICA_DELAY_MAX_MS;
use lyceum_store::{LogSource, MeasuredReplica, measure_delay};

use super::{CheckState, Finding};
use crate::failure::Failure;

const CHECK: &str = "read replica";

/// Waits until the read replica has what the primary had, as long as a server would use it.
pub(super) fn check(primary: &str, replica: &str) -> Finding {
    let patience = Duration::from_millis(READ_REPLICA_DELAY_MAX_MS);
    match measure_delay(primary, replica, patience) {
        Ok(MeasuredReplica { source: LogSource::Nowhere, .. }) => {
            let found = LogSource::Nowhere.to_string();
            let remedy =
                "check `primary_conninfo` of the standby, and that the server which it names runs";
            Finding::ill(CHECK, CheckState::Warning, found, remedy)
        }
        Ok(MeasuredReplica { delay: Some(delay), source }) => {
            Finding::well(CHECK, format!("at most {} ms behind; {source}", delay.as_millis()))
        }
        Ok(MeasuredReplica { delay: None, source }) => {
            let found = format!(
                "it is more than {} s behind; the primary serves reports instead; {source}",
                patience.as_secs()
            );
            let remedy = "check the standby's disk, its network, and long queries on it";
            Finding::ill(CHECK, CheckState::Warning, found, remedy)
        }
        Err(problem) => {
            let is_wrong = problem.kind == ProblemKind::Invalid;
            let state = if is_wrong { CheckState::Failed } else { CheckState::Warning };
            let found = format!("it cannot be used: {}", Failure::from(problem).message);
            let remedy = "correct `store.read_replica`; it names a standby of `store.database`";
            Finding::ill(CHECK, state, found, remedy)
        }
    }
}
