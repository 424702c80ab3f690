//! Makes requests repeatable: with a key, a request is carried out only once.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use sha2::{Digest, Sha256};

use crate::limits;
use crate::repository::requests as repository;

pub use crate::repository::requests::KeyOwner;

/// A request with its key.
#[derive(Clone, Debug)]
pub struct KeyedRequest {
    key: String,
    /// A digest of the request, because a key may be used for only one request.
    request: String,
}

/// The sender and the target of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestSender<'a> {
    /// The client, person or API key; `None` for a player with a game token.
    pub caller: Option<&'a str>,
    /// The player, if the request names one.
    pub player: Option<&'a str>,
    /// The game's id, if the request names one.
    pub game: Option<&'a str>,
    /// The request's method.
    pub method: &'a str,
    /// The path of the route, with parameters in braces.
    pub route: &'a str,
}

impl KeyOwner {
    /// The owner of the sender's keys.
    pub fn of(sender: &RequestSender<'_>) -> Self {
        let RequestSender { caller, player, game, method, route } = *sender;
        let (caller, game) = (caller.unwrap_or_default(), game.unwrap_or_default());
        let user = player.map_or_else(|| format!("client:{caller}"), str::to_owned);
        Self { user, scope: format!("{caller}\n{game}\n{method} {route}") }
    }
}

impl KeyedRequest {
    /// A request with its key (the header `Idempotency-Key`).
    ///
    /// Errors: `Invalid` for a key that is empty or too long.
    pub fn of(key: &str, method: &str, path: &str, body: &[u8]) -> Result<Self> {
        let most = limits::REQUEST_KEY_MAX_CHARS;
        if key.is_empty() || key.chars().count() > most {
            return Err(Problem::invalid(
                "Idempotency-Key",
                message!("must have 1 to {most} characters"),
            ));
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

    /// Does the work and stores its answer for [`limits::REQUEST_KEPT_DAYS`]. If the owner has sent the request
    /// before, it does nothing and returns the stored answer.
    ///
    /// Errors: those of the work; `Conflict` if the owner used the key for another request.
    pub fn run(
        &self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        owner: &KeyOwner,
        work: impl FnOnce(&mut Tx<'_>) -> Result<String>,
    ) -> Result<String> {
        let days = limits::REQUEST_KEPT_DAYS;
        repository::forget(tx, &owner.user, now.plus_seconds(-days * 24 * 60 * 60))?;
        if !repository::begin(tx, now, owner, &self.key, &self.request)? {
            return self.stored_answer(tx, owner)?.ok_or_else(|| self.key_reused());
        }
        let answer = work(tx)?;
        repository::answered(tx, owner, &self.key, &answer)?;
        Ok(answer)
    }

    /// The stored answer, if the owner has sent the request before.
    ///
    /// Errors: `Conflict` if the owner used the key for another request.
    pub fn stored_answer(&self, tx: &mut Tx<'_>, owner: &KeyOwner) -> Result<Option<String>> {
        match repository::find(tx, owner, &self.key)? {
            Some((request, _)) if request != self.request => Err(self.key_reused()),
            found => Ok(found.map(|(_, answer)| answer)),
        }
    }

    /// A name that is unique among all requests of all owners.
    pub fn name(&self, KeyOwner { user, scope }: &KeyOwner) -> String {
        format!("{user}\n{scope}\n{}\n{}", self.key, self.request)
    }

    fn key_reused(&self) -> Problem {
        let message = message!(
            "the Idempotency-Key '{self.key}' was used for another request; send a new key"
        );
        Problem::new(ProblemKind::Conflict, message)
    }
}
