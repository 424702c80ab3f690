//! Lets tokens through: verified once, remembered; their clients known from memory.
//!
//! A background task reads changed clients and keys every [`limits::CLIENTS_REFRESH_MS`], so that
//! a revoked client stops on every server within [`limits::REVOCATION_MAX_S`].

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::http::HeaderValue;
use lyceum_access as access;
use lyceum_access::{Keyring, TokenFault};
use lyceum_core::config::Limits;
use lyceum_core::time::Timestamp;
use lyceum_core::{Result, limits};
use quick_cache::sync::Cache;

use super::clients::{Caller, Clients};
use super::people::{self, Holders};
use super::{Grant, Kind};
use crate::state::App;

/// What tokens are checked against.
pub struct Gate {
    keyring: ArcSwap<Keyring>,
    clients: ArcSwap<Clients>,
    verified: Cache<Box<str>, Arc<access::Grant>>,
    holders: Holders,
    /// Held while clients and keys are read, so that an older answer never replaces a newer one.
    refreshing: tokio::sync::Mutex<()>,
}

/// Why a token is refused, for the caller.
pub(crate) type Reason = String;

impl Gate {
    /// A gate that knows the keys and, until its first refresh, no client.
    pub fn new(keyring: Keyring) -> Self {
        Self {
            keyring: ArcSwap::from_pointee(keyring),
            clients: ArcSwap::default(),
            verified: Cache::new(limits::TOKEN_CACHE_ENTRIES),
            holders: Holders::default(),
            refreshing: tokio::sync::Mutex::default(),
        }
    }

    /// Knows a client that no store has.
    pub(crate) fn know(&self, client: access::Client, limits: &Limits) {
        self.clients.store(Arc::new(self.clients.load().with(vec![client], limits)));
    }

    /// The keys.
    pub(crate) fn keyring(&self) -> Arc<Keyring> {
        self.keyring.load_full()
    }

    pub(super) fn holders(&self) -> &Holders {
        &self.holders
    }

    /// Whether pages of the origin may call as some client.
    pub(crate) fn knows_origin(&self, origin: &HeaderValue) -> bool {
        self.clients.load().any_has_origin(origin)
    }

    /// The grant of a token, or why it is refused.
    pub(crate) async fn open(&self, app: &App, token: &str) -> Result<Result<Grant, Reason>> {
        if access::holder::is_kept(token) {
            let opened = people::open_bearer(app, token).await?;
            return Ok(opened.map_err(|closed| closed.says().to_owned()));
        }
        let now = app.clock.now();
        let token = match self.verify(token, now) {
            Ok(token) => token,
            Err(fault) => return Ok(Err(fault.to_string())),
        };
        if token.client_id == access::DEMO_CLIENT {
            return Ok(Ok(people::visiting(app, token)));
        }
        let known = self.clients.load().get(&token.client_id).cloned();
        if known.is_none() && access::holder::is_id(&token.client_id) {
            let opened = people::made_by(app, token).await?;
            return Ok(opened.ok_or_else(|| "who made the token may not call any more".to_owned()));
        }
        let caller = match known {
            Some(caller) => Some(caller),
            None => self.load_caller(app, &token.client_id).await?,
        };
        match caller {
            None => Ok(Err("the token's client is not known here any more".to_owned())),
            Some(caller) if caller.is_revoked() => {
                Ok(Err("the token's client was revoked".to_owned()))
            }
            Some(caller) => Ok(Ok(Grant { token, caller, kind: Kind::Client })),
        }
    }

    fn verify(&self, token: &str, now: Timestamp) -> Result<Arc<access::Grant>, TokenFault> {
        if let Some(known) = self.verified.get(token) {
            return if now < known.expires { Ok(known) } else { Err(TokenFault::Expired) };
        }
        let grant = Arc::new(self.keyring.load().verify(token, now)?);
        self.verified.insert(token.into(), Arc::clone(&grant));
        Ok(grant)
    }

    /// The client of a token, from the store. A client is not in memory yet if it is new.
    async fn load_caller(&self, app: &App, id: &str) -> Result<Option<Arc<Caller>>> {
        self.refresh(app).await?;
        Ok(self.clients.load().get(id).cloned())
    }

    /// Reads what changed: clients, and keys that another server made.
    pub(crate) async fn refresh(&self, app: &App) -> Result<()> {
        let _one_at_a_time = self.refreshing.lock().await;
        let known = self.clients.load_full();
        let keyring = self.keyring();
        let since = known.changed;
        let reading = Arc::clone(&keyring);
        let now = app.clock.now();
        let (changes, keys) = app
            .db
            .read(move |tx| Ok((access::client::all_since(tx, since)?, reading.reload(tx, now)?)))
            .await?;
        if !changes.is_empty() {
            self.clients.store(Arc::new(known.with(changes, &app.config.limits)));
        }
        if keys.jwks() != keyring.jwks() {
            self.keyring.store(Arc::new(keys));
            // A key that is gone must not live on in what it once verified.
            self.verified.clear();
        }
        Ok(())
    }

    /// Lets an old signing key be followed by a new one; the next refresh reads it.
    async fn rotate_when_due(&self, app: &App) -> Result<()> {
        let (keyring, now) = (self.keyring(), app.clock.now());
        if keyring.rotation_due(now) {
            app.db.write(move |tx| keyring.renew(tx, now)).await?;
        }
        Ok(())
    }

    /// Refreshes until the server ends.
    pub(crate) async fn keep_fresh(app: App) {
        let mut tick = tokio::time::interval(Duration::from_millis(limits::CLIENTS_REFRESH_MS));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Err(problem) = app.gate.refresh(&app).await {
                tracing::warn!("clients and keys cannot be read again: {problem}");
            }
            if let Err(problem) = app.gate.rotate_when_due(&app).await {
                tracing::warn!("a new signing key cannot be made: {problem}");
            }
        }
    }
}
