//! Backends of hosted projects as callers of the platform. Each backend may act only in its own game, for any player
//! that it names.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::request::Parts;
use lyceum_access as access;
use lyceum_access::{CallerPlace, Client, Scopes};
use lyceum_core::config::LimitSettings;
use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Reach, Result};
use lyceum_games::games;
use lyceum_hosting::engine::BACKEND_HEADER;

use super::{CallerKind, ClientShare, Grant};
use crate::Http;

/// A calling backend. The server attaches this to requests that arrive from the backend's process, so callers cannot
/// forge it.
#[derive(Clone)]
pub struct CallingBackend {
    slug: Arc<str>,
    caller: Arc<ClientShare>,
}

impl CallingBackend {
    /// The backend of a project. It has the same share of the server as a client.
    pub fn of(slug: &str, limits: &LimitSettings) -> Self {
        let client = Client {
            id: format!("backend:{slug}"),
            name: format!("The backend of {slug}"),
            dialect: PayloadDialect::Platform,
            scopes: Scopes::default(),
            origins: Vec::new(),
            requests_per_second: None,
            created: Timestamp::from_milliseconds(0),
            revoked: None,
            changed: 0,
            reach: Reach::Everything,
        };
        Self { slug: slug.into(), caller: Arc::new(ClientShare::new(client, limits)) }
    }

    /// The backend that sent the request; `None` if the request has a token, such as the token of the backend's caller.
    /// In a sandbox, a backend under development names itself in a header.
    pub fn that_calls(app: &Http, parts: &Parts) -> Option<Self> {
        if parts.headers.contains_key(AUTHORIZATION) {
            return None;
        }
        let known = parts.extensions.get::<Self>().cloned();
        known.or_else(|| {
            app.sandbox.as_ref()?;
            let slug = parts.headers.get(BACKEND_HEADER)?.to_str().ok()?;
            Some(Self::of(slug, &app.config.limits))
        })
    }

    /// Where its requests come from, whatever their headers say.
    pub fn place(&self) -> CallerPlace {
        CallerPlace::Backend(Arc::clone(&self.slug))
    }

    /// The rights of the backend.
    pub async fn grant(&self, app: &Http) -> Result<Grant> {
        let slug = Arc::clone(&self.slug);
        let game = app.db.read(move |tx| games::find(tx, &slug)).await?;
        let token = access::Grant {
            client_id: format!("backend:{}", self.slug),
            scopes: Scopes::default(),
            rights: Scopes::default().rights(),
            player: None,
            jti: String::new(),
            issued: Timestamp::from_milliseconds(0),
            expires: Timestamp::from_milliseconds(i64::MAX),
        };
        let (token, caller) = (Arc::new(token), Arc::clone(&self.caller));
        Ok(Grant { token, caller, kind: CallerKind::Backend(game.id.into()) })
    }
}
