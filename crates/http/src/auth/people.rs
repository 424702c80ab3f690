//! Identifies people and API keys by bearer tokens and browser sessions.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use lyceum_access as access;
use lyceum_access::holder::{self, TokenRejection};
use lyceum_access::session::SessionKind;
use lyceum_access::{Access, Client, Player, PlayerTrust, RequestSubject, TokenHolder, allowed};
use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Problem, ProblemKind, Reach, Result};
use lyceum_games::{games, visitors};
use lyceum_roster::repository;
use lyceum_store::Tx;
use quick_cache::sync::Cache;

use super::{CallerKind, ClientShare, Grant, HeaderRefusal};
use crate::{Http, limits};

/// The shares of people and API keys that called recently.
pub struct RecentCallers(Cache<String, Arc<ClientShare>>);

impl Default for RecentCallers {
    fn default() -> Self {
        Self(Cache::new(limits::TOKEN_CACHE_ENTRIES))
    }
}

impl RecentCallers {
    fn caller(&self, app: &Http, holder: &TokenHolder) -> Arc<ClientShare> {
        self.share(app, holder.id(), || client(holder))
    }

    fn share(&self, app: &Http, id: &str, client: impl FnOnce() -> Client) -> Arc<ClientShare> {
        self.0.get(id).unwrap_or_else(|| {
            let caller = Arc::new(ClientShare::new(client(), &app.config.limits));
            self.0.insert(id.to_owned(), Arc::clone(&caller));
            caller
        })
    }

    fn grant(&self, app: &Http, holder: TokenHolder) -> Grant {
        let caller = self.caller(app, &holder);
        let scopes = holder.scopes();
        let token = access::Grant {
            client_id: holder.id().to_owned(),
            scopes,
            rights: scopes.rights(),
            player: None,
            jti: String::new(),
            issued: Timestamp::from_milliseconds(0),
            expires: Timestamp::from_milliseconds(i64::MAX),
        };
        Grant { token: Arc::new(token), caller, kind: CallerKind::Holder(Arc::new(holder)) }
    }
}

/// A person or API key as a client, because shares are counted for clients.
fn client(holder: &TokenHolder) -> Client {
    Client {
        id: holder.id().to_owned(),
        name: holder.name().to_owned(),
        dialect: PayloadDialect::Platform,
        scopes: holder.scopes(),
        origins: Vec::new(),
        requests_per_second: None,
        created: Timestamp::from_milliseconds(0),
        revoked: None,
        changed: 0,
        reach: Reach::Everything,
    }
}

/// The grant of a bearer token that is stored as a hash. The store is read each time, so that all servers immediately
/// refuse a revoked key or a disabled person.
pub(super) async fn open_bearer(app: &Http, bearer: &str) -> Result<Result<Grant, TokenRejection>> {
    open(app, bearer, SessionKind::Token).await
}

/// The grant of a token that a person or API key made for a player. It is valid as long as its maker has access to the
/// game.
pub(super) async fn made_by(app: &Http, token: Arc<access::Grant>) -> Result<Option<Grant>> {
    let (grant, environment) = (Arc::clone(&token), app.config.server.env);
    let find = move |tx: &mut Tx<'_>| {
        let holder = holder::by_id(tx, environment, &grant.client_id)?;
        let (Some(holder), Some(player)) = (holder, &grant.player) else { return Ok(None) };
        Ok(trust(tx, &holder, player)?.map(|trust| (holder, trust)))
    };
    Ok(app.db.read(find).await?.map(|(holder, trust)| {
        let caller = app.gate.holders().caller(app, &holder);
        Grant { token, caller, kind: CallerKind::MadeBy(trust) }
    }))
}

/// The rights of a token that a person or API key made for the player; `None` if its maker has lost access to the game.
/// A person may play any game as themselves.
fn trust(tx: &mut Tx<'_>, holder: &TokenHolder, player: &Player) -> Result<Option<PlayerTrust>> {
    let trust = PlayerTrust::of_maker(holder.caller());
    if trust == PlayerTrust::Person || is_player(tx, holder, player)? {
        return Ok(Some(PlayerTrust::Person));
    }
    let Some(game) = games::lookup(tx, &player.game)? else { return Ok(None) };
    let is_member = holder.is_member(tx, &game.slug)?;
    let subject = RequestSubject::Game { id: &game.id, slug: &game.slug, is_member };
    Ok(allowed(holder.caller(), Access::SignedIn, subject).is_ok().then_some(trust))
}

fn is_player(tx: &mut Tx<'_>, holder: &TokenHolder, player: &Player) -> Result<bool> {
    let person = match holder {
        TokenHolder::Person(person) => person,
        TokenHolder::Student(student) => return Ok(student.user == player.user),
        TokenHolder::Key(_) => return Ok(false),
    };
    let email = person.email.as_str();
    let user = repository::users_with_emails(tx, &[email])?.remove(email);
    Ok(user.as_ref() == Some(&player.user) || visitors::is_person(tx, &player.user, &person.id)?)
}

/// The grant of a demo visitor's token. Each visitor has a separate share.
pub(super) fn visiting(app: &Http, token: Arc<access::Grant>) -> Grant {
    let id = token.player.as_ref().map_or("", |player| &player.user).to_owned();
    let client = || Client {
        id: id.clone(),
        name: "A demo visitor".to_owned(),
        dialect: PayloadDialect::Platform,
        scopes: token.scopes,
        origins: Vec::new(),
        requests_per_second: Some(limits::DEMO_REQUESTS_PER_S),
        created: token.issued,
        revoked: None,
        changed: 0,
        reach: Reach::Everything,
    };
    let caller = app.gate.holders().share(app, &id, client);
    Grant { token, caller, kind: CallerKind::DemoVisitor }
}

/// The grant of a browser's session, if it has one.
pub async fn open_page(app: &Http, headers: &HeaderMap) -> Result<Option<Grant>> {
    match session(app, headers) {
        Some(session) => Ok(open(app, session, SessionKind::Page).await?.ok()),
        None => Ok(None),
    }
}

async fn open(app: &Http, text: &str, sort: SessionKind) -> Result<Result<Grant, TokenRejection>> {
    let (now, environment) = (app.clock.now(), app.config.server.env);
    let wanted = text.to_owned();
    let read = app.db.read(move |tx| match sort {
        SessionKind::Token => holder::of_bearer(tx, now, environment, &wanted),
        SessionKind::Page => holder::of_session(tx, now, environment, &wanted, sort),
    });
    let (holder, is_stale) = match read.await? {
        Ok(found) => found,
        Err(closed) => return Ok(Err(closed)),
    };
    if is_stale {
        let used = text.to_owned();
        app.db.write(move |tx| holder::touch(tx, now, &used)).await?;
    }
    Ok(Ok(app.gate.holders().grant(app, holder)))
}

/// The grant of a signed-in caller, by any bearer token or by a browser's session. With a session, changes are accepted
/// only from pages of this server.
pub async fn signed_in(
    app: &Http,
    headers: &HeaderMap,
    changes: bool,
) -> Result<Grant, HeaderRefusal> {
    let is_page =
        !headers.contains_key(header::AUTHORIZATION) && (!changes || is_own(app, headers));
    let grant = if is_page { open_page(app, headers).await? } else { None };
    let grant = match grant {
        Some(grant) => grant,
        None => super::authenticate(app, headers, access::Scopes::default()).await?,
    };
    grant.caller.count_request(&app.live_servers)?;
    Ok(grant)
}

/// The grant of a browser's session, for routes of students. Changes are accepted only from pages of this server.
///
/// Errors: `Forbidden` for a change that another site sends; too many requests.
pub(super) async fn student(
    app: &Http,
    headers: &HeaderMap,
    changes: bool,
) -> Result<Option<Grant>> {
    let Some(grant) = open_page(app, headers).await? else { return Ok(None) };
    if changes && !is_own(app, headers) {
        let message =
            "pages of other sites cannot change anything here; use the pages of this server";
        return Err(Problem::new(ProblemKind::Forbidden, message));
    }
    grant.caller.count_request(&app.live_servers)?;
    Ok(Some(grant))
}

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a page of this server sent the request, not a page of another site or of a hosted project. Programs other
/// than browsers do not send the header that says so.
pub fn is_own(app: &Http, headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get(FETCH_SITE) {
        return site == "same-origin" || site == "none";
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let is_host = |host: &str| origin.split_once("://").is_some_and(|(_, own)| own == host);
    origin == app.base_url || host.is_some_and(is_host)
}

/// The cookies of a browser: its session, the guard of forms before there is a session, the state that is compared
/// with the answer of an OpenID provider, the class in which its students sign in, and the language of its pages.
#[derive(Clone, Copy)]
pub enum SessionCookies {
    /// The session.
    Session,
    /// Guards forms before there is a session.
    Form,
    /// The state that is compared with the answer of an OpenID provider.
    Attempt,
    /// The sealed code of an open class.
    Class,
    /// The language that was chosen on a page without a session.
    Language,
}

impl SessionCookies {
    /// The prefix `__Host-` prevents other hosts of the same domain from setting the cookie. It requires https.
    fn name(self, app: &Http) -> &'static str {
        match (self, app.base_url.starts_with("https://")) {
            (Self::Session, true) => "__Host-lyceum",
            (Self::Session, false) => "lyceum",
            (Self::Form, true) => "__Host-lyceum-form",
            (Self::Form, false) => "lyceum-form",
            (Self::Attempt, true) => "__Host-lyceum-attempt",
            (Self::Attempt, false) => "lyceum-attempt",
            (Self::Class, true) => "__Host-lyceum-class",
            (Self::Class, false) => "lyceum-class",
            (Self::Language, true) => "__Host-lyceum-language",
            (Self::Language, false) => "lyceum-language",
        }
    }

    /// The value, if the browser sent the cookie.
    pub fn read<'a>(self, app: &Http, headers: &'a HeaderMap) -> Option<&'a str> {
        let name = self.name(app);
        let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = all.flat_map(|value| value.split(';'));
        pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
    }

    /// The header that sets the cookie for this many seconds; 0 removes it.
    pub fn set(self, app: &Http, value: &str, seconds: i64) -> HeaderValue {
        let secure = if app.base_url.starts_with("https://") { "; Secure" } else { "" };
        let name = self.name(app);
        let text =
            format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::try_from(text).expect("secrets are URL-safe text")
    }
}

/// The secret of the browser's session, which may be invalid.
pub fn session<'a>(app: &Http, headers: &'a HeaderMap) -> Option<&'a str> {
    SessionCookies::Session.read(app, headers)
}
