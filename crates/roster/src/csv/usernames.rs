//! Warns about users of an import who share a username with others.

use lyceum_core::Result;

use super::layout::FileLayout;
use super::writing::CandidateWriter;
use crate::kinds::USER;
use crate::record::Record;
use crate::repository;
use crate::rules::user::shared_username;

impl CandidateWriter<'_, '_> {
    /// Warns about each of the stored records whose username an earlier user has.
    pub(super) fn warn_of_usernames(
        &mut self,
        layout: &FileLayout,
        lines: &[u64],
        records: &[Record],
    ) -> Result<()> {
        if *layout.file.kind != USER {
            return Ok(());
        }
        let first = repository::first_users_with_usernames(self.tx, records)?;
        for (record, line) in records.iter().zip(lines) {
            let Some((problem, username)) = shared_username(record, &first) else { continue };
            let remedy = "give one of the users another username";
            let warning = layout.fault(*line, problem, remedy.into());
            self.refusals.warn(warning.at("username", username))?;
        }
        Ok(())
    }
}
