//! Appending in writes that stay open.

use std::ops::Range;
use std::thread::Scope;

use lyceum_events::{Appended, Event, append};
use lyceum_store::{Db, SqlDialect};
use lyceum_testkit::open_writes::OpenWrite;

use crate::log::{EARLY, NOW, both, event, send};
use crate::runs::gather_all;

/// Runs the body on PostgreSQL, with which servers share a database. It has some events, so that their actors and their
/// sensor are known: writes that store the same new name wait for each other.
pub(crate) fn on_postgres(body: impl Fn(&Db)) {
    both(|db| {
        if db.dialect() == SqlDialect::Postgres {
            send(db, "app", &events(KNOWN));
            gather_all(db);
            body(db);
        }
    });
}

/// Events that are stored first.
pub(crate) const KNOWN: Range<u32> = 10_000..10_003;

pub(crate) fn events(numbers: Range<u32>) -> Vec<Event> {
    numbers.map(|number| event(number, "early", EARLY)).collect()
}

/// Starts to append the events.
pub(crate) fn start_claim<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    db: &'env Db,
    events: Vec<Event>,
) -> OpenWrite<'scope, Vec<Appended>> {
    OpenWrite::start(scope, db, move |tx| append(tx, NOW, "app", &events))
}
