//! Rows of users who were erased from the server are rejected, and what they say is not stored.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use lyceum_core::Result;
use lyceum_store::Tx;

use super::candidate::{CandidateRow, RejectedRow};
use super::layout::FileLayout;
use super::writing::CandidateWriter;
use crate::kinds::USER;

/// Finds out which of the users with these sourcedIds were erased from the server.
#[derive(Clone)]
pub struct ErasedUsers(pub FindErased);

/// See [`ErasedUsers`].
pub type FindErased = Arc<dyn Fn(&mut Tx<'_>, &[&str]) -> Result<HashSet<String>> + Send + Sync>;

impl fmt::Debug for ErasedUsers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasedUsers")
    }
}

impl ErasedUsers {
    /// The rows of a file without those of erased users, which are rejected.
    pub(super) fn reject(
        &self,
        writer: &mut CandidateWriter<'_, '_>,
        layout: &FileLayout,
        rows: Vec<CandidateRow>,
    ) -> Result<Vec<CandidateRow>> {
        let kind = layout.file.kind;
        if *kind != USER {
            return Ok(rows);
        }
        let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let erased = (self.0)(writer.tx, &ids)?;
        let (erased, rows): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| erased.contains(&row.id));
        for mut row in erased {
            let fault = layout.fault(
                row.row.line,
                "the user was erased from this server".into(),
                "remove the user from the system that exports the file".into(),
            );
            row.record = None;
            row.refusals = vec![RejectedRow { faults: vec![fault], cells: Vec::new() }];
            writer.refuse(layout, row)?;
        }
        Ok(rows)
    }
}
