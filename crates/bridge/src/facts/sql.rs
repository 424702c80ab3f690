//! The tables of facts: the only SQL about them.

use lyceum_core::Result;
use lyceum_store::{Row, Tx, Value};

use super::{BUCKET_MS, Changes, Context, Sums};

const COLUMNS: [&str; 14] = [
    "actor",
    "bucket",
    "context",
    "shard",
    "events",
    "xp",
    "total_questions",
    "correct_questions",
    "mastered_units",
    "active",
    "inactive",
    "waste",
    "unknown",
    "anti_pattern",
];
/// The columns in front of the sums.
const KEY: usize = 4;

/// Writes changes: contexts that are new, then rows, in the order of their keys, so that two
/// transactions never wait in a ring.
pub(super) fn write(tx: &mut Tx<'_>, changes: &Changes) -> Result<()> {
    let contexts: Vec<Value<'_>> = changes
        .contexts
        .iter()
        .flat_map(|(number, Context { course, subject, app })| {
            [(*number).into(), course.into(), subject.into(), app.into()]
        })
        .collect();
    let columns = ["id", "course", "subject", "app"];
    tx.insert_rows("fact_contexts", &columns, &contexts, "ON CONFLICT DO NOTHING")?;
    let shard = tx.shard()?;
    let mut rows: Vec<Value<'_>> = Vec::with_capacity(changes.rows.len() * COLUMNS.len());
    for ((actor, bucket, context), sums) in &changes.rows {
        rows.extend([*actor, *bucket, *context, shard, sums.events].map(Value::Int));
        rows.extend(sums.measures.map(Value::Int));
    }
    tx.insert_rows("facts", &COLUMNS, &rows, &upsert())?;
    if changes.takes_away {
        for ((actor, bucket, context), sums) in &changes.rows {
            if sums.events <= 0 {
                remove_if_empty(tx, [*actor, *bucket, *context, shard])?;
            }
        }
    }
    Ok(())
}

fn upsert() -> String {
    let sums: Vec<String> = COLUMNS[KEY..]
        .iter()
        .map(|name| format!("{name} = facts.{name} + excluded.{name}"))
        .collect();
    format!("ON CONFLICT (actor, bucket, context, shard) DO UPDATE SET {}", sums.join(", "))
}

/// Removes a row that no event has a part in any more, as a rebuild would not make it. On PostgreSQL
/// the row of a shard may have no event and still take back what another shard added.
fn remove_if_empty(tx: &mut Tx<'_>, key: [i64; KEY]) -> Result<()> {
    let empty: Vec<String> = COLUMNS[KEY..].iter().map(|name| format!("{name} = 0")).collect();
    let sql = format!(
        "DELETE FROM facts WHERE actor = $1 AND bucket = $2 AND context = $3 AND shard = $4 AND {}",
        empty.join(" AND ")
    );
    tx.execute(&sql, &key.map(Value::Int)).map(drop)
}

/// Removes the rows of the actors behind `after` up to `last`.
pub(super) fn clear(tx: &mut Tx<'_>, after: i64, last: i64) -> Result<()> {
    let sql = "DELETE FROM facts WHERE actor > $1 AND actor <= $2";
    tx.execute(sql, &[after.into(), last.into()]).map(drop)
}

/// Hands the facts of an actor in whole buckets of the instants to `each`: the first instant of the
/// bucket, the context, the sums over all shards. In the order of their time.
pub(crate) fn read(
    tx: &mut Tx<'_>,
    actor: i64,
    from_ms: i64,
    to_ms: i64,
    mut each: impl FnMut(i64, &Context, &Sums),
) -> Result<()> {
    let sql = "SELECT f.bucket, f.context, c.course, c.subject, c.app, f.events, f.xp, \
               f.total_questions, f.correct_questions, f.mastered_units, f.active, f.inactive, \
               f.waste, f.unknown, f.anti_pattern FROM facts f \
               JOIN fact_contexts c ON c.id = f.context \
               WHERE f.actor = $1 AND f.bucket >= $2 AND f.bucket < $3 \
               ORDER BY f.bucket, f.context";
    let values = [actor.into(), (from_ms / BUCKET_MS).into(), (to_ms / BUCKET_MS).into()];
    let mut last: Option<(i64, i64, Context, Sums)> = None;
    // Shards whose events were taken back in another shard add up to nothing.
    let mut hand = |(bucket, _, context, sums): (i64, i64, Context, Sums)| {
        if sums.events != 0 {
            each(bucket * BUCKET_MS, &context, &sums);
        }
    };
    tx.query(sql, &values, |row| {
        let (bucket, context, more) = (row.int(0)?, row.int(1)?, sums(row, 5)?);
        match &mut last {
            Some((b, c, _, sums)) if (*b, *c) == (bucket, context) => sums.add(&more, 1),
            _ => {
                let text = |column| row.text(column).map(str::to_owned);
                let named = Context { course: text(2)?, subject: text(3)?, app: text(4)? };
                if let Some(done) = last.replace((bucket, context, named, more)) {
                    hand(done);
                }
            }
        }
        Ok(true)
    })?;
    if let Some(done) = last {
        hand(done);
    }
    Ok(())
}

fn sums(row: &Row<'_>, first: usize) -> Result<Sums> {
    let mut sums = Sums { events: row.int(first)?, ..Sums::default() };
    for (at, measure) in sums.measures.iter_mut().enumerate() {
        *measure = row.int(first + 1 + at)?;
    }
    Ok(sums)
}
