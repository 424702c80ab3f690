//! Keys that count once, in sorted runs in a table, and packed records.
//!
//! **Why.** A row whose key is random changes a page of its own: of its table or of an index. When the pages no longer fit
//! into memory, each row costs a read and a write of the disk. Here, records with random keys that arrive together are
//! written together, and a filter in memory finds out which keys are new.
//!
//! **A run** is a sorted sequence of records. It is packed in *chunks* of some dozens to hundreds of records, which are
//! rows of a table. The row before its chunks is its *head*: the first key of each chunk, and a Bloom filter with sixteen
//! bits for each record. A process caches heads, so it reads nothing for a key that is in no run, except once in a
//! thousand times. A run never changes. Eight runs of one level are merged into
//! one of the next level, so there are few runs, and a record is rewritten once per level.
//!
//! **The list of runs** of one kind of key is one value in one row. A transaction that changes runs locks this row, and
//! writes the new list with the chunks. So a crash leaves either the former runs or the new ones.
//!
//! **Unique keys** ([`UniqueKeys`]) are claimed by any number of servers beside each other. The latest keys are rows of a
//! small table with a unique index. A claim has three steps:
//!
//! 1. It inserts its keys with `ON CONFLICT DO NOTHING`. If another transaction has claimed one of them and has not ended,
//!    the claim waits here, and nowhere else.
//! 2. It reads the list of runs. This statement must see all that was committed before it, so the transaction runs at
//!    `READ COMMITTED`. A transaction that sees one state runs again if the list is newer than that state.
//! 3. It looks into the runs. If they contain one of its keys, it removes its own row again.
//!
//! Meanwhile one server at a time moves rows into a run ([`UniqueKeys::move_rows_to_run`]), in a transaction that deletes
//! the rows and adds the run. Why does each key count once?
//!
//! - *The former row is still there*: step 1 finds it.
//! - *It is being moved*: the index has its entry until the move is committed, so step 1 waits. Afterwards the key is in a
//!   run of the list that step 2 reads.
//! - *It was moved before step 1*: the same.
//! - *The move fails or the server is killed*: the row is there again.
//! - *The runs of the list are merged between steps 2 and 3*: a chunk is missing, and the claim returns to step 2. A
//!   new run has greater numbers than all runs before it, so a number never leads to other records.
//!
//! On SQLite one transaction writes at a time. With many keys it looks first and adds them as a run at once
//! ([`UniqueKeys::claim_in_run`]); with few it claims rows as above.
//!
//! The crate does not know what a key or a record means. `tests/it/claims.rs` compares random orders of claims,
//! unfinished claims, moves, merges and failures with a `BTreeMap`.
//!
//! | what | where |
//! |---|---|
//! | records, packed as bytes | `record` |
//! | the head of a run, and the cache of heads | `head` |
//! | the list of runs: find, add, merge | `repository/runs.rs` |
//! | chunks and heads in their table | `repository/chunks.rs` |
//! | keys that count once | `repository/keys.rs` |
//! | the SQL | `repository` |
//! | limits | `limits` |

mod head;
pub mod limits;
mod record;
mod repository;

pub use head::forget_all_but;
pub use record::{PackedNumbers, PackedRecord, UnpackedRecords, pack, packed};
pub use repository::{KeyNumber, RunTables, Runs, UniqueKeys, try_lock_lists};
