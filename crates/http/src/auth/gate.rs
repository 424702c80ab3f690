//! Checks tokens. A token is verified once and then cached, and clients are kept in memory.
//!
//! A background task reads changed clients and keys after changes of the database, every [`limits::CLIENTS_REFRESH_MS`]
//! at most, so that every server refuses a revoked client within [`limits::REVOCATION_MAX_S`].

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use http::HeaderValue;
use lyceum_access as access;
use lyceum_access::{Keyring, TokenError};
use lyceum_core::Result;
use lyceum_core::config::LimitSettings;
use lyceum_core::time::Timestamp;
use quick_cache::sync::Cache;

use super::clients::{ClientShare, ClientTable};
use super::people::{self, RecentCallers};
use super::{CallerKind, Grant};
use crate::{Application, Http, limits};

/// The keys and clients against which tokens are checked.
pub struct Gate {
    keyring: ArcSwap<Keyring>,
    clients: ArcSwap<ClientTable>,
    verified: Cache<Box<str>, Arc<access::Grant>>,
    holders: RecentCallers,
    /// Held while clients and keys are read, so that an older result never replaces a newer one.
    refreshing: tokio::sync::Mutex<()>,
}

/// Why a token or key is refused, in words for the caller.
pub struct RefusalReason {
    pub text: String,
    /// Advice to the caller.
    pub remedy: &'static str,
}

impl RefusalReason {
    fn of_token(text: impl Into<String>) -> Self {
        Self { text: text.into(), remedy: "get a new one from POST /oauth2/token" }
    }
}

impl Gate {
    /// Creates a gate with these keys. It has no clients until the first refresh.
    pub fn new(keyring: Keyring) -> Self {
        Self {
            keyring: ArcSwap::from_pointee(keyring),
            clients: ArcSwap::default(),
            verified: Cache::new(limits::TOKEN_CACHE_ENTRIES),
            holders: RecentCallers::default(),
            refreshing: tokio::sync::Mutex::default(),
        }
    }

    /// Adds a client that is not in the store.
    pub fn add_client(&self, client: access::Client, limits: &LimitSettings) {
        self.clients.store(Arc::new(self.clients.load().with(vec![client], limits)));
    }

    /// The signing keys.
    pub fn keyring(&self) -> Arc<Keyring> {
        self.keyring.load_full()
    }

    pub(super) fn holders(&self) -> &RecentCallers {
        &self.holders
    }

    /// Whether pages of the origin may call with any client.
    pub fn knows_origin(&self, origin: &HeaderValue) -> bool {
        self.clients.load().any_has_origin(origin)
    }

    /// The grant of a token. Errors: the reason why the token is refused.
    pub async fn open(&self, app: &Http, token: &str) -> Result<Result<Grant, RefusalReason>> {
        if access::holder::is_stored_secret(token) {
            let opened = people::open_bearer(app, token).await?;
            return Ok(opened.map_err(|closed| RefusalReason {
                text: closed.description().to_owned(),
                remedy: closed.remedy(),
            }));
        }
        let now = app.clock.now();
        let token = match self.verify(token, now) {
            Ok(token) => token,
            Err(fault) => return Ok(Err(RefusalReason::of_token(fault.to_string()))),
        };
        if token.client_id == access::DEMO_CLIENT {
            return Ok(Ok(people::visiting(app, token)));
        }
        let known = self.clients.load().get(&token.client_id).cloned();
        if known.is_none() && access::holder::is_id(&token.client_id) {
            let opened = people::made_by(app, token).await?;
            return Ok(opened.ok_or_else(|| {
                RefusalReason::of_token(
                    "the person or key that created the token no longer has access",
                )
            }));
        }
        let caller = match known {
            Some(caller) => Some(caller),
            None => self.load_caller(app, &token.client_id).await?,
        };
        match caller {
            None => {
                Ok(Err(RefusalReason::of_token("the token's client is not known here any more")))
            }
            Some(caller) if caller.is_revoked() => {
                Ok(Err(RefusalReason::of_token("the token's client was revoked")))
            }
            Some(caller) => Ok(Ok(Grant { token, caller, kind: CallerKind::Client })),
        }
    }

    fn verify(&self, token: &str, now: Timestamp) -> Result<Arc<access::Grant>, TokenError> {
        if let Some(known) = self.verified.get(token) {
            return if known.has_ended(now) { Err(TokenError::Expired) } else { Ok(known) };
        }
        let grant = Arc::new(self.keyring.load().verify(token, now)?);
        self.verified.insert(token.into(), Arc::clone(&grant));
        Ok(grant)
    }

    /// The client with that id.
    pub(super) async fn client(&self, app: &Http, id: &str) -> Result<Option<Arc<ClientShare>>> {
        let known = self.clients.load().get(id).cloned();
        match known {
            Some(caller) => Ok(Some(caller)),
            None => self.load_caller(app, id).await,
        }
    }

    /// Loads the client of a token from the store, because a new client is not in memory yet.
    async fn load_caller(&self, app: &Http, id: &str) -> Result<Option<Arc<ClientShare>>> {
        self.refresh(app).await?;
        Ok(self.clients.load().get(id).cloned())
    }

    /// Reads changed clients, and keys that other servers made.
    pub async fn refresh(&self, app: &Http) -> Result<()> {
        let _one_at_a_time = self.refreshing.lock().await;
        let known = self.clients.load_full();
        let keyring = self.keyring();
        let since = known.changed;
        let reading = Arc::clone(&keyring);
        let now = app.clock.now();
        let (changes, keys) = app
            .db
            .read(move |tx| {
                Ok((access::client::changed_since(tx, since)?, reading.reload(tx, now)?))
            })
            .await?;
        if !changes.is_empty() {
            self.clients.store(Arc::new(known.with(changes, &app.config.limits)));
        }
        if keys.jwks() != keyring.jwks() {
            self.keyring.store(Arc::new(keys));
            // Tokens that a removed key verified must not stay in the cache.
            self.verified.clear();
        }
        Ok(())
    }

    /// Creates a new signing key if the current one is old. The next refresh reads it.
    async fn rotate_when_due(&self, app: &Http) -> Result<()> {
        let (keyring, now) = (self.keyring(), app.clock.now());
        if keyring.rotation_due(now) {
            app.db.write(move |tx| keyring.renew(tx, now)).await?;
        }
        Ok(())
    }

    /// Refreshes after changes until the server ends. Keys also become old without a change.
    pub async fn refresh_periodically<A: Application>(app: Arc<A>) {
        let mut changes = app.db.changes();
        loop {
            let refreshed = app.gate.refresh(&app).await;
            if let Err(problem) = &refreshed {
                tracing::warn!("cannot refresh clients and keys: {problem}");
            }
            if let Err(problem) = app.gate.rotate_when_due(&app).await {
                tracing::warn!("cannot create a new signing key: {problem}");
            }
            let pause = Duration::from_millis(limits::CLIENTS_REFRESH_MS);
            let check_every = Duration::from_secs(limits::KEYS_CHECK_EVERY_S);
            changes.wait(pause, Some(if refreshed.is_ok() { check_every } else { pause })).await;
        }
    }
}
