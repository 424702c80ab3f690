//! Identifies callers by tokens, keys, sessions and signatures, and applies the access rule.

mod backend;
mod clients;
mod gate;
pub mod people;
mod provider;
mod rate;
mod sandbox;
pub mod sign_in;
mod signed;
pub mod token_request;

use std::sync::Arc;

use governor::clock::{Clock, DefaultClock};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use lyceum_access as access;
use lyceum_access::Scope::{GamesRead, GamesWrite};
use lyceum_access::allowed::Caller as Calling;
use lyceum_access::{
    Access, AccessDenial, AccessReach, CallerPlace, Player, PlayerTrust, RequestSubject, Rights,
    Scopes, Student, TokenHolder, allowed,
};
use lyceum_core::{Message, PayloadDialect, Problem, ProblemKind, Reach, Result, message};
use lyceum_store::Tx;

use crate::Http;
use crate::answer::Answer;
use crate::render::Rendering;

pub use backend::CallingBackend;
pub use clients::ClientShare;
pub use gate::Gate;
use gate::RefusalReason;
pub use provider::ProviderCache;
pub use sandbox::{SandboxGrants, client as sandbox_client};

/// The rights of an identified caller. Cheap to clone.
#[derive(Clone)]
pub struct Grant {
    token: Arc<access::Grant>,
    caller: Arc<ClientShare>,
    kind: CallerKind,
}

/// The kind of caller that a grant belongs to.
#[derive(Clone)]
enum CallerKind {
    /// A client, or a player for whom a client requested a token.
    Client,
    /// A person or an API key.
    Holder(Arc<TokenHolder>),
    /// A player for whom a person or API key requested a token.
    MadeBy(PlayerTrust),
    /// An anonymous player.
    DemoVisitor,
    /// The backend of a game.
    Backend(Arc<str>),
    /// The default caller of a sandbox.
    Sandbox,
}

impl Grant {
    /// The id of the client.
    pub fn client_id(&self) -> &str {
        &self.token.client_id
    }

    /// The payload dialect with which the client is registered.
    pub fn dialect(&self) -> PayloadDialect {
        self.caller.dialect()
    }

    /// The rights that the token grants.
    pub fn rights(&self) -> Rights {
        self.token.rights
    }

    /// The player of a game token.
    pub fn player(&self) -> Option<&Player> {
        self.token.player.as_ref()
    }

    /// The game of the calling backend, which may act there for any player.
    pub fn game_of_backend(&self) -> Option<&str> {
        match &self.kind {
            CallerKind::Backend(game) => Some(game),
            _ => None,
        }
    }

    /// The calling person or API key; `None` for a client.
    pub fn holder(&self) -> Option<&TokenHolder> {
        match &self.kind {
            CallerKind::Holder(holder) => Some(holder),
            _ => None,
        }
    }

    /// Whether the caller is the developer who owns the sandbox.
    pub fn is_developer_of_sandbox(&self) -> bool {
        matches!(self.kind, CallerKind::Sandbox) && self.rights().allow(GamesWrite)
    }

    /// The caller in the form that the access rule needs.
    fn calling(&self) -> Calling<'_> {
        match (&self.kind, self.player()) {
            (CallerKind::Sandbox, player) => Calling::Sandbox(self.rights(), player),
            (CallerKind::DemoVisitor, Some(player)) => Calling::DemoVisitor(player),
            (CallerKind::MadeBy(trust), Some(player)) => Calling::Player { player, trust: *trust },
            (CallerKind::Client, Some(player)) => {
                let trust = PlayerTrust::of_maker(Calling::Client(
                    self.caller.rights(),
                    self.caller.reach(),
                ));
                Calling::Player { player, trust }
            }
            (_, Some(player)) => Calling::Player { player, trust: PlayerTrust::Game },
            (CallerKind::Backend(game), None) => Calling::Backend(game),
            (CallerKind::Holder(holder), None) => holder.caller(),
            (CallerKind::Client | CallerKind::DemoVisitor | CallerKind::MadeBy(_), None) => {
                Calling::Client(self.rights(), self.caller.reach())
            }
        }
    }

    /// The part of the roster that the caller has access to.
    pub fn reach(&self) -> &Reach {
        self.calling().roster_reach()
    }

    /// The caller's name in the audit log: a person's e-mail address, a key's name or a client's id.
    pub fn name(&self) -> &str {
        match self.holder() {
            Some(TokenHolder::Person(person) | TokenHolder::Student(Student { person, .. })) => {
                person.account_name()
            }
            Some(TokenHolder::Key(key)) => &key.name,
            None => self.client_id(),
        }
    }

    /// Applies the access rule to the existing project with this slug. Errors: `Forbidden`.
    pub fn decide_project(&self, tx: &mut Tx<'_>, slug: &str) -> Result<()> {
        let is_member = match self.holder() {
            Some(holder) => holder.is_member(tx, slug)?,
            None => false,
        };
        self.decide(RequestSubject::Project(slug, is_member))
    }

    /// Applies the access rule to a slug that is not used yet. Errors: `Forbidden`.
    pub fn decide_new_project(&self, slug: &str) -> Result<()> {
        self.decide(RequestSubject::NewProject(slug))
    }

    fn decide(&self, subject: RequestSubject<'_>) -> Result<()> {
        let decided = allowed(self.calling(), Access::SignedIn, subject);
        decided.map(drop).map_err(|denied| refusal(&denied).problem)
    }

    /// The granted scopes.
    pub fn scopes(&self) -> Scopes {
        self.token.scopes
    }

    /// The client and the used part of its share.
    pub fn caller(&self) -> Arc<ClientShare> {
        Arc::clone(&self.caller)
    }

    /// The client and the used part of its share.
    pub fn client(&self) -> &ClientShare {
        &self.caller
    }
}

/// Identifies the caller of a route with this access; `None` for an anonymous request. This verifies the credentials
/// and counts the request for the caller's rate, but does not decide about access yet.
///
/// Errors: the token is missing or refused, or the caller exceeded its rate.
pub async fn identify(
    app: &Http,
    access: Access,
    parts: &Parts,
    place: &CallerPlace,
) -> Result<Option<Grant>, HeaderRefusal> {
    let headers = &parts.headers;
    let scopes = match access {
        Access::Public => return Ok(None),
        Access::Page(_) => return Ok(people::open_page(app, headers).await?),
        Access::Student(_) => return Ok(people::student(app, headers, changes(parts)).await?),
        Access::SignedIn => {
            return people::signed_in(app, headers, changes(parts)).await.map(Some);
        }
        // Partly public routes can be read without a token. In a sandbox, callers never need a token.
        Access::Optional(_)
            if !headers.contains_key(header::AUTHORIZATION) && app.sandbox.is_none() =>
        {
            return Ok(None);
        }
        Access::Any(scopes)
        | Access::Both(scopes, _)
        | Access::Optional(scopes)
        | Access::Player(scopes)
        | Access::Visitor(scopes) => scopes,
    };
    let grant = match CallingBackend::that_calls(app, parts) {
        Some(backend) => backend.grant(app).await?,
        None => match signed::grant(app, access, parts, place).await? {
            Some(grant) => grant,
            None => authenticate(app, headers, scopes).await?,
        },
    };
    grant.caller.count_request(&app.live_servers)?;
    Ok(Some(grant))
}

/// Whether the method is one that changes something.
fn changes(parts: &Parts) -> bool {
    !matches!(parts.method, Method::GET | Method::HEAD)
}

/// Applies the access rule to the identified caller.
pub fn decide(
    grant: Option<&Grant>,
    access: Access,
    subject: RequestSubject<'_>,
) -> Result<AccessReach, AccessDenial> {
    allowed(grant.map_or(Calling::Nobody, Grant::calling), access, subject)
}

/// The problem for a caller who was denied access, as of RFC 6750 if a scope is missing.
pub fn refusal(denied: &AccessDenial) -> HeaderRefusal {
    let problem = Problem::new(ProblemKind::Forbidden, explanation(denied));
    match denied {
        AccessDenial::SignedOut => {
            let problem = Problem { kind: ProblemKind::Unauthorized, ..problem };
            HeaderRefusal::challenge(problem, BEARER)
        }
        AccessDenial::Scope(scopes) => {
            let challenge = format!(r#"{BEARER}, error="insufficient_scope", scope="{scopes}""#);
            HeaderRefusal::challenge(problem, &challenge)
        }
        AccessDenial::Role(_)
        | AccessDenial::Student
        | AccessDenial::ClassSession
        | AccessDenial::Demo
        | AccessDenial::Project(_)
        | AccessDenial::Game(_)
        | AccessDenial::Player(_)
        | AccessDenial::Platform
        | AccessDenial::Limited(_) => problem.into(),
    }
}

fn explanation(denied: &AccessDenial) -> Message {
    match denied {
        AccessDenial::SignedOut => {
            "this needs a token: get one from POST /oauth2/token and send it as \
                              'Authorization: Bearer …'"
                .into()
        }
        AccessDenial::Scope(scopes) => {
            message!(
                "the token does not have the required scope; request a token with one of these scopes: {scopes}"
            )
        }
        AccessDenial::Role(roles) => message!("this requires the role {roles}"),
        AccessDenial::Student => "students have access to /learn and /api/learn only".into(),
        AccessDenial::ClassSession => {
            "the code of a class opens lessons only; sign in with your own name for the rest".into()
        }
        AccessDenial::Demo => {
            "a demo visitor has scores, the leader board and the app's backend; sign \
                         in for the rest"
                .into()
        }
        AccessDenial::Project(slug) => {
            message!(
                "the project '{slug}' is not yours; an administrator can add you with `lyceum admin member add`"
            )
        }
        AccessDenial::Game(slug) => message!(
            "you don't have access to the game '{slug}': the token is for another one, or you are \
             not a member of its project"
        ),
        AccessDenial::Player(user) => message!(
            "you don't have access to the player '{user}': the token is for another one, or nobody \
             with that id has played a game of yours"
        ),
        AccessDenial::Platform => {
            "what all games share is changed by administrators and by clients with \
                             the scope lyceum/games.write; name a game of yours with 'gameId'"
                .into()
        }
        AccessDenial::Limited(reach) => message!(
            "your access is limited to {reach}, and this path cannot be limited; use a client, key or account without a \
             limit"
        ),
    }
}

const BEARER: &str = r#"Bearer realm="lyceum""#;

/// A problem with a header that clients can react to.
#[derive(Debug)]
pub struct HeaderRefusal {
    /// The problem.
    pub problem: Problem,
    header: Option<Box<(HeaderName, HeaderValue)>>,
}

impl HeaderRefusal {
    /// A problem, and the header of its answer.
    pub fn with(problem: Problem, name: HeaderName, value: HeaderValue) -> Self {
        Self { problem, header: Some(Box::new((name, value))) }
    }

    fn challenge(problem: Problem, challenge: &str) -> Self {
        let value = HeaderValue::try_from(challenge).expect("challenges are made of plain text");
        Self::with(problem, header::WWW_AUTHENTICATE, value)
    }

    /// The answer: this page, or the problem in the format of the area.
    pub fn answer(
        self,
        rendering: Rendering,
        dialect: PayloadDialect,
        page: Option<Answer>,
    ) -> Answer {
        let mut answer = page.unwrap_or_else(|| rendering.answer(&self.problem, dialect));
        answer.headers.extend(self.header.map(|header| *header));
        answer
    }
}

impl From<Problem> for HeaderRefusal {
    fn from(problem: Problem) -> Self {
        Self { problem, header: None }
    }
}

/// The grant of the request's bearer token (RFC 6750 section 2.1). In a sandbox, callers without a token get its
/// default grant.
pub async fn authenticate(
    app: &Http,
    headers: &HeaderMap,
    scopes: Scopes,
) -> Result<Grant, HeaderRefusal> {
    let token = bearer(headers);
    let stand_in = app.sandbox.as_ref().and_then(|sandbox| sandbox.stands_in(token, scopes));
    let Some(token) = token else {
        if let Some(grant) = stand_in {
            return Ok(grant);
        }
        return Err(refusal(&AccessDenial::SignedOut));
    };
    app.gate.open(app, token).await?.or_else(|RefusalReason { text, remedy }| {
        if let Some(grant) = stand_in {
            return Ok(grant);
        }
        let problem = Problem::new(ProblemKind::Unauthorized, message!("{text}; {remedy}"));
        let challenge = format!(r#"{BEARER}, error="invalid_token", error_description="{text}""#);
        Err(HeaderRefusal::challenge(problem, &challenge))
    })
}

/// The player of a game token, and whether the token reveals the player's identity. `None` for any other text. In a
/// sandbox, any text means the demo user.
pub async fn player(app: &Http, token: &str) -> Result<Option<(Player, bool)>> {
    let demo = || app.sandbox.as_ref()?.stands_in(Some(token), Scopes::from_iter([GamesRead]));
    let grant = app.gate.open(app, token).await?.ok().or_else(demo);
    Ok(grant.and_then(|grant| {
        let tells = match grant.calling() {
            Calling::Player { trust, .. } => trust == PlayerTrust::Person,
            _ => true,
        };
        grant.player().map(|player| (player.clone(), tells))
    }))
}

/// Like [`player`], but counts the request for the sender's rate. Errors: `TooManyRequests`.
pub async fn counted_player(app: &Http, token: &str) -> Result<Option<Player>> {
    let Ok(grant) = app.gate.open(app, token).await? else { return Ok(None) };
    grant.caller.count_request(&app.live_servers)?;
    Ok(grant.player().cloned())
}

/// The token of the header `Authorization` (RFC 6750 section 2.1).
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    // `HeaderValue::to_str` is slow for long tokens, because it checks them byte by byte.
    let value = headers.get(header::AUTHORIZATION)?.as_bytes();
    let value = std::str::from_utf8(value).ok().filter(|value| value.is_ascii())?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The payload dialect that the request names, as in `Accept: application/json;profile="standard"`.
pub fn requested_dialect(headers: &HeaderMap) -> Option<PayloadDialect> {
    let accept = headers.get(header::ACCEPT)?.as_bytes();
    if accept.len() < "profile=".len() + 1 {
        return None;
    }
    let accept = std::str::from_utf8(accept).ok()?;
    let (_, profile) = accept.split_once("profile=")?;
    let profile = profile.trim_start_matches('"');
    match profile.split(['"', ';', ',', ' ']).next() {
        Some("standard") => Some(PayloadDialect::Standard),
        Some("platform") => Some(PayloadDialect::Platform),
        _ => None,
    }
}

/// The seconds until a limiter admits the next request, at least one.
fn wait_s(refused: &governor::NotUntil<governor::clock::QuantaInstant>) -> u32 {
    let wait = refused.wait_time_from(DefaultClock::default().now());
    wait.as_millis().div_ceil(1000).max(1).try_into().unwrap_or(u32::MAX)
}

const ENVIRONMENT: HeaderName = HeaderName::from_static("lyceum-environment");

/// The environment of this server: `staging`, `production`, or `local` for a sandbox.
pub fn environment(app: &Http) -> &'static str {
    match app.sandbox {
        Some(_) => "local",
        None => app.config.server.env.name(),
    }
}

/// Refuses a request whose header `Lyceum-Environment` names another environment. Commands send this header so that
/// they cannot change the wrong server.
pub fn check_environment(app: &Http, headers: &HeaderMap) -> Result<()> {
    let own = environment(app);
    match headers.get(ENVIRONMENT) {
        Some(sent) if sent != own => {
            let sent = String::from_utf8_lossy(sent.as_bytes());
            let message =
                message!("this is a '{own}' server, but the request is for a '{sent}' server");
            Err(Problem::new(ProblemKind::Conflict, message))
        }
        _ => Ok(()),
    }
}
