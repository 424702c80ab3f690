//! The one way into the log: events are appended and counted in one transaction.

use lyceum_core::Result;
use lyceum_core::time::Timestamp;
use lyceum_events::{Actors, Appended, Event};
use lyceum_store::Tx;

use crate::facts::Changes;

/// Appends events of a client and counts what they add. A duplicate changes nothing; a correction
/// takes back what the former version added. Answers what became of each event.
pub fn intake(
    tx: &mut Tx<'_>,
    now: Timestamp,
    client: &str,
    events: &[Event],
) -> Result<Vec<Appended>> {
    let actors = Actors::of(tx, events)?;
    let appended = lyceum_events::append(tx, now, client, events, &actors)?;
    let formers = appended.iter().filter_map(|appended| match appended {
        Appended::Correction { former, .. } => Some(&**former),
        _ => None,
    });
    let former_actors = Actors::of(tx, formers)?;
    let mut changes = Changes::default();
    for (event, appended) in events.iter().zip(&appended) {
        match appended {
            Appended::New { .. } => changes.add(actors.number(event), event),
            Appended::Correction { former, .. } => {
                changes.take_away(former_actors.number(former), former);
                changes.add(actors.number(event), event);
            }
            Appended::Same { .. } | Appended::Older { .. } => {}
        }
    }
    changes.write(tx)?;
    Ok(appended)
}
