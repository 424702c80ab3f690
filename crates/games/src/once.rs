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

/// Whose key it is. The same key of another caller, for another player, in another game or on another route is
/// another key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub(crate) user: String,
    pub(crate) scope: String,
}

/// What a request is sent by, for and to.
#[derive(Clone, Copy, Debug)]
pub struct Sender<'a> {
    /// The client, person or key; none: the player, by a game token.
    pub caller: Option<&'a str>,
    /// The player, if the request names one.
    pub player: Option<&'a str>,
    /// The game's id, if the request names one.
    pub game: Option<&'a str>,
    /// The request's method.
    pub method: &'a str,
    /// The path of the route, parameters in braces.
    pub route: &'a str,
}

impl Owner {
    /// The owner of the keys that the sender sends.
    pub fn of(sender: &Sender<'_>) -> Self {
        let Sender { caller, player, game, method, route } = *sender;
        let (caller, game) = (caller.unwrap_or_default(), game.unwrap_or_default());
        let user = player.map_or_else(|| format!("client:{caller}"), str::to_owned);
        Self { user, scope: format!("{caller}\n{game}\n{method} {route}") }
    }
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

    /// Does the work and keeps its answer for [`limits::REQUEST_KEPT_DAYS`]. If the owner has sent the
    /// request before, nothing is done and the answer is the former one.
    ///
    /// Errors: those of the work; `Conflict` if the owner sent another request with the key.
    pub fn run(
        &self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        owner: &Owner,
        work: impl FnOnce(&mut Tx<'_>) -> Result<String>,
    ) -> Result<String> {
        let kept = limits::REQUEST_KEPT_DAYS;
        repository::forget(tx, &owner.user, now.plus_seconds(-kept * 24 * 60 * 60))?;
        if !repository::begin(tx, now, owner, &self.key, &self.request)? {
            return self.answered(tx, owner)?.ok_or_else(|| self.taken());
        }
        let answer = match repository::former(tx, &owner.user, &self.key, &self.request)? {
            Some(former) => former,
            None => work(tx)?,
        };
        repository::answered(tx, owner, &self.key, &answer)?;
        Ok(answer)
    }

    /// The former answer, if the owner has sent the request before, also from before keys had a scope.
    ///
    /// Errors: `Conflict` if the owner sent another request with the key.
    pub fn answered(&self, tx: &mut Tx<'_>, owner: &Owner) -> Result<Option<String>> {
        match repository::find(tx, owner, &self.key)? {
            Some((request, answer)) if request == self.request => Ok(Some(answer)),
            Some(_) => Err(self.taken()),
            None => repository::former(tx, &owner.user, &self.key, &self.request),
        }
    }

    /// A name that no other request of any owner has.
    pub fn name(&self, Owner { user, scope }: &Owner) -> String {
        format!("{user}\n{scope}\n{}\n{}", self.key, self.request)
    }

    fn taken(&self) -> Problem {
        let message = format!("the Idempotency-Key '{}' was sent with another request", self.key);
        Problem::new(ProblemKind::Conflict, message)
    }
}
