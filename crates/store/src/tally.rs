//! Counts of live records that cost the same at a thousand records and at ten million.
//!
//! A collection's records are numbered by `seq`. The table `tally` holds, for each block of 256
//! numbers (level 0) and of 65 536 numbers (level 1), how many of its records are live. A total is
//! the sum of level 1; the n-th live record lies in a block that two short reads find, so neither
//! `X-Total-Count` nor a deep `offset` walks the collection.
//!
//! A part of a collection, such as the users of a school, is counted in level 1 only: of many schools, level 0 would have
//! nearly a row for each record.

use std::collections::BTreeMap;

use lyceum_core::Result;

use crate::pending::{BLOCK_BITS, CountDeltas, SUPER_BITS};
use crate::{Tx, Value};

impl Tx<'_> {
    /// Writes changes of counts under the given shard.
    pub(crate) fn write_counts(&mut self, deltas: CountDeltas, shard: i64) -> Result<()> {
        let mut rows = BTreeMap::new();
        for ((collection, level, block), delta) in deltas.0 {
            if level == 0 {
                *rows.entry((collection.clone(), 1, block >> SUPER_BITS)).or_default() += delta;
            }
            *rows.entry((collection, level, block)).or_default() += delta;
        }
        let values: Vec<Value<'_>> = rows
            .iter()
            .filter(|&(_, delta): &(_, &i64)| *delta != 0)
            .flat_map(|((collection, level, block), delta)| {
                let collection = Value::Text(collection);
                [collection, Value::Int(*level), (*block).into(), shard.into(), (*delta).into()]
            })
            .collect();
        if values.is_empty() {
            return Ok(());
        }
        self.send_rows(
            "tally",
            &["collection", "level", "block", "shard", "live"],
            &values,
            "ON CONFLICT (collection, level, block, shard) \
             DO UPDATE SET live = tally.live + excluded.live",
        )
    }

    /// The names of the parts of a collection that have a count.
    pub fn tally_parts(&mut self, collection: &str) -> Result<Vec<String>> {
        let (first, end) = (format!("{collection}@"), format!("{collection}A"));
        let sql =
            "SELECT DISTINCT collection FROM tally WHERE collection >= $1 AND collection < $2";
        self.all(sql, &[(&first).into(), (&end).into()], |row| row.string(0))
    }

    /// The live records of a collection, without those that this transaction adds or removes.
    pub fn tally_total(&mut self, collection: &str) -> Result<i64> {
        let total = self.query_one(
            "SELECT CAST(COALESCE(SUM(live), 0) AS BIGINT) FROM tally \
             WHERE collection = $1 AND level = 1",
            &[collection.into()],
            |row| row.int(0),
        )?;
        Ok(total.unwrap_or(0))
    }

    /// The live records of a collection or a part in each block of 65 536 numbers that has any.
    pub fn tally_blocks(&mut self, collection: &str) -> Result<BTreeMap<i64, i64>> {
        let sql = "SELECT block, CAST(SUM(live) AS BIGINT) FROM tally \
                   WHERE collection = $1 AND level = 1 GROUP BY block HAVING SUM(live) <> 0";
        Ok(self.rows(sql, &[collection.into()])?.into_iter().collect())
    }

    /// Where the live record number `offset` (from 0, in the order of `seq`) lies: the first
    /// `seq` of its block and how many live records of the block come before it. `None` when the
    /// collection is shorter. Sees no change of this transaction.
    pub fn tally_seek(&mut self, collection: &str, offset: i64) -> Result<Option<(i64, i64)>> {
        let Some((block, skip)) = self.tally_walk(collection, 1, (i64::MIN, i64::MAX), offset)?
        else {
            return Ok(None);
        };
        let first = block << SUPER_BITS;
        let last = first + (1 << SUPER_BITS) - 1;
        let found = self.tally_walk(collection, 0, (first, last), skip)?;
        Ok(found.map(|(block, skip)| (block << BLOCK_BITS, skip)))
    }

    fn tally_walk(
        &mut self,
        collection: &str,
        level: i64,
        (first, last): (i64, i64),
        offset: i64,
    ) -> Result<Option<(i64, i64)>> {
        self.tally_block_at(
            "SELECT block, CAST(SUM(live) AS BIGINT) FROM tally \
             WHERE collection = $1 AND level = $2 AND block BETWEEN $3 AND $4 \
             GROUP BY block ORDER BY block",
            &[collection.into(), level.into(), first.into(), last.into()],
            offset,
        )
    }

    /// The block of the record number `offset` (from 0), and how many records of the block come before it. The rows of the
    /// query are blocks in ascending order, each with the number of its records. `None` if they are not so many.
    pub fn tally_block_at(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        offset: i64,
    ) -> Result<Option<(i64, i64)>> {
        let mut skip = offset;
        let mut found = None;
        self.query(sql, values, |row| {
            let live = row.int(1)?;
            if skip < live {
                found = Some((row.int(0)?, skip));
            } else {
                skip -= live;
            }
            Ok(found.is_none())
        })?;
        Ok(found)
    }
}
