//! Work that goes on beside requests, and what it shares with them.
//!
//! | what | where |
//! |---|---|
//! | imports of files; erasures | `imports`, `erasure` |
//! | backups and trying them out | `backup` |
//! | sending webhooks; whether their owner receives a change | `webhooks`, `webhook_reach` |
//! | many envelopes in one transaction; moving ids of events into runs and summing facts | `intake`, `gathering` |
//! | what wakes streams; what students do, for open pages | `live`, `activity_watch` |

pub mod activity_watch;
pub mod backup;
pub mod erasure;
pub mod gathering;
pub mod imports;
pub mod intake;
pub mod live;
mod webhook_reach;
pub mod webhooks;
