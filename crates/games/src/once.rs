//! Requests that a player's program may send again: with a key they happen once.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_store::Tx;
use sha2::{Digest, Sha256};

use crate::repository::requests as repository;

/// A request that happens once.
#[derive(Clone, Debug)]
pub struct Once {
    key: String,
    /// The request's digest: a key belongs to one request.
    request: String,
}

impl Once {
    /// The request of a key (the header `Idempotency-Key`).
    ///
    /// Errors: `Invalid` for a key that is empty or too long.
    pub fn of(key: &str, method: &str, path: &str, body: &[u8]) -> Result<Self> {
        let most = limits::REQUEST_KEY_MAX_BYTES;
        if key.is_empty() || key.len() > most {
            return Err(Problem::invalid("Idempotency-Key", format!("must be 1 to {most} bytes")));
        }
        let mut digest = Sha256::new();
        for part in [method.as_bytes(), path.as_bytes(), body] {
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
        let digest: [u8; 32] = digest.finalize().into();
        let half = digest.first_chunk().expect("a digest is longer");
        let request = format!("{:032x}", u128::from_be_bytes(*half));
        Ok(Self { key: key.to_owned(), request })
    }

    /// Does the work and keeps its answer for [`limits::REQUEST_KEPT_DAYS`]; where the player's
    /// program has sent the request before, nothing is done and the answer is the former one.
    ///
    /// Errors: those of the work; `Conflict` where the key was another request's.
    pub fn run(
        &self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        user: &str,
        work: impl FnOnce(&mut Tx<'_>) -> Result<String>,
    ) -> Result<String> {
        let kept = limits::REQUEST_KEPT_DAYS;
        repository::forget(tx, user, now.plus_seconds(-kept * 24 * 60 * 60))?;
        if repository::begin(tx, now, user, &self.key, &self.request)? {
            let answer = work(tx)?;
            repository::answered(tx, user, &self.key, &answer)?;
            return Ok(answer);
        }
        self.answered(tx, user)?.ok_or_else(|| self.taken())
    }

    /// What it was answered, where the player's program has sent it before.
    ///
    /// Errors: `Conflict` where the key was another request's.
    pub fn answered(&self, tx: &mut Tx<'_>, user: &str) -> Result<Option<String>> {
        match repository::find(tx, user, &self.key)? {
            Some((request, answer)) if request == self.request => Ok(Some(answer)),
            Some(_) => Err(self.taken()),
            None => Ok(None),
        }
    }

    /// What sets it apart from all other requests of the player.
    pub fn name(&self) -> String {
        format!("{}\n{}", self.key, self.request)
    }

    fn taken(&self) -> Problem {
        let message = format!("the Idempotency-Key '{}' was sent with another request", self.key);
        Problem::new(ProblemKind::Conflict, message)
    }
}
