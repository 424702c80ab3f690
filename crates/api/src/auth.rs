//! Sign-in of browsers, and information about the caller's token, key or session.

use http::{StatusCode, header};
use lyceum_access::account::{self, AccountChange};
use lyceum_access::limits::PAGE_SESSION_LIFETIME_S;
use lyceum_access::{Person, Role, Scope, Student, TokenHolder, session};
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_http::answer::Answer;
use lyceum_http::auth::people::{self, SessionCookies};
use lyceum_http::auth::{self, Grant, sign_in};
use lyceum_http::render::Rendering;
use lyceum_http::route::{Access, delete, get, patch, post};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accounts::{SessionList, parsed_language};
use crate::{Area, Context, Route, limits, own_account};

pub(super) fn area() -> Area {
    let routes = [sign_in_routes(), vec![caller_route()], own_account_routes()];
    Area {
        name: "own_account",
        base: "/api/auth",
        rendering: Rendering::Problem,
        description: "Sign-in of people, and the owner of a token or key.",
        routes: routes.into_iter().flatten().collect(),
    }
}

fn sign_in_routes() -> Vec<Route> {
    vec![
        post("/sign-in", Access::Public, begin)
            .named("signIn")
            .description("Begins a browser session with an e-mail address and a password, and sets its cookie.")
            .reads_up_to(limits::SIGN_IN_FORM_MAX_BYTES)
            .reads::<SignInRequest>()
            .answers::<SignedInPerson>(200, "The person who is signed in."),
        post("/sign-out", Access::SignedIn, end)
            .of_no_organization()
            .named("signOut")
            .description("Ends the session of the request: a browser's session, or a token of lyceum login.")
            .answers_empty(204, "The session has ended."),
    ]
}

/// The credentials of a person who signs in.
#[derive(Deserialize, JsonSchema)]
struct SignInRequest {
    /// The e-mail address.
    email: String,
    /// The password.
    password: String,
}

/// A person who is signed in.
#[derive(Serialize, JsonSchema)]
struct SignedInPerson {
    /// The id of the account.
    id: String,
    /// The e-mail address.
    email: String,
    /// The name.
    name: String,
    /// The role, which decides about access.
    role: Role,
}

impl SignedInPerson {
    fn of(person: &Person) -> Self {
        let Person { id, email, name, role, .. } = person.clone();
        Self { id, email, name, role }
    }
}

async fn begin(context: Context) -> Result<Answer> {
    if !people::is_own(&context.app, &context.headers) {
        let message =
            "pages of other sites cannot sign people in; use the sign-in page of this server";
        return Err(Problem::new(ProblemKind::Forbidden, message));
    }
    // Clients of this route know 400 for a body without the two texts.
    let SignInRequest { email, password } =
        context.body_as().map_err(|problem| Problem { kind: ProblemKind::Malformed, ..problem })?;
    let (person, session) = sign_in::sign_in(&context, &email, password).await?;
    let cookie = SessionCookies::Session.set(&context.app, &session, PAGE_SESSION_LIFETIME_S);
    Ok(Answer::of(&SignedInPerson::of(&person))
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::SET_COOKIE, cookie))
}

async fn end(context: Context) -> Result<Answer> {
    let grant = context.grant.as_ref().expect("the route is not public");
    if !matches!(grant.holder(), Some(TokenHolder::Person(_))) {
        let message = "only people sign out; keys and clients are revoked";
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let bearer = auth::bearer(&context.headers);
    let text = bearer.or_else(|| people::session(&context.app, &context.headers));
    let text = text.expect("a person has one of the two").to_owned();
    context.app.db.write(move |tx| session::end(tx, &text)).await?;
    let cleared_cookie = SessionCookies::Session.set(&context.app, "", 0);
    Ok(Answer::empty(StatusCode::NO_CONTENT).header(header::SET_COOKIE, cleared_cookie))
}

fn caller_route() -> Route {
    get("/me", Access::SignedIn, me)
        .of_no_organization()
        .named("getMe")
        .description("Reads the owner of the session, token or key, and its scopes.")
        .answers::<Caller>(200, "The owner and the scopes.")
}

/// The caller of the request.
#[derive(Serialize, JsonSchema)]
struct Caller {
    #[serde(flatten)]
    identity: CallerIdentity,
    /// The environment of the server; a sandbox is "local".
    #[schemars(extend("enum" = ["local", "staging", "production"]))]
    environment: &'static str,
    /// The scopes that the caller has.
    scopes: Vec<&'static str>,
}

/// The owner of a session, token or key.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[schemars(inline)]
enum CallerIdentity {
    /// A person, by a session.
    Person(SignedInPerson),
    /// A program, by an API key.
    Key {
        /// The id of the key.
        id: String,
        /// The name of the key.
        name: String,
        /// The role, which decides about access.
        role: Role,
        /// The only project that the key has access to; null if it has access to all.
        project: Option<String>,
    },
    /// A client, by a token.
    Client {
        /// The id of the client.
        id: String,
        /// The id of the client.
        name: String,
    },
    /// A player of a game, by a game token.
    Player {
        /// The player's id.
        id: String,
        /// The player's id.
        name: String,
    },
}

async fn me(context: Context) -> Result<Answer> {
    let grant = context.grant.as_ref().expect("the route is not public");
    let identity = match (grant.holder(), grant.player()) {
        (Some(TokenHolder::Person(person) | TokenHolder::Student(Student { person, .. })), _) => {
            CallerIdentity::Person(SignedInPerson::of(person))
        }
        (Some(TokenHolder::Key(key)), _) => CallerIdentity::Key {
            id: key.id.clone(),
            name: key.name.clone(),
            role: key.role,
            project: key.project.clone(),
        },
        (None, Some(player)) => {
            CallerIdentity::Player { id: player.user.clone(), name: player.user.clone() }
        }
        (None, None) => {
            let id = grant.client_id().to_owned();
            CallerIdentity::Client { name: id.clone(), id }
        }
    };
    let environment = auth::environment(&context.app);
    let scopes = grant.scopes().iter().map(Scope::name).collect();
    Ok(Answer::of(&Caller { identity, environment, scopes })
        .header(header::CACHE_CONTROL, "no-store"))
}

fn own_account_routes() -> Vec<Route> {
    vec![
        patch("/me", Access::SignedIn, change_own_account)
            .of_no_organization()
            .named("changeMe")
            .description("Changes the name of the signed-in person.")
            .reads::<OwnChange>()
            .answers::<SignedInPerson>(200, "The name was changed."),
        post("/password", Access::SignedIn, set_password)
            .of_no_organization()
            .named("changeOwnPassword")
            .description("Changes the password of the signed-in person. All other sessions end.")
            .reads_up_to(limits::SIGN_IN_FORM_MAX_BYTES)
            .reads::<PasswordChange>()
            .answers_empty(204, "The password was changed."),
        get("/sessions", Access::SignedIn, sessions)
            .of_no_organization()
            .named("getOwnSessions")
            .description("Lists the sessions of the signed-in person, the newest first.")
            .answers::<SessionList>(200, "The sessions."),
        delete("/sessions/{session}", Access::SignedIn, end_session)
            .of_no_organization()
            .named("endOwnSession")
            .description("Ends a session of the signed-in person.")
            .answers_empty(204, "The session has ended."),
    ]
}

/// A change of the own account.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct OwnChange {
    /// The name.
    name: Option<String>,
    /// The language of the pages, `en` or `es`. With an empty text the browser decides.
    language: Option<String>,
}

/// A change of the own password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct PasswordChange {
    /// The password until now.
    current: String,
    /// The new password, with 10 to 200 characters.
    new: String,
}

async fn change_own_account(context: Context) -> Result<Answer> {
    let OwnChange { name, language } = context.body_as()?;
    let language = language.as_deref().map(parsed_language).transpose()?;
    let (person, now) = (signed_in_person(&context)?, context.app.clock.now());
    let change = AccountChange { name, role: None, language };
    let write =
        move |tx: &mut Tx<'_>| account::change(tx, now, person.account_name(), &person.id, &change);
    let person = context.app.db.write(write).await?;
    Ok(Answer::of(&SignedInPerson::of(&person)))
}

async fn set_password(context: Context) -> Result<Answer> {
    let PasswordChange { current, new } = context.body_as()?;
    let person = signed_in_person(&context)?;
    let session = own_account::secret(&context).unwrap_or_default();
    sign_in::change_password(&context, &person, session, (current, new)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn sessions(context: Context) -> Result<Answer> {
    let person = signed_in_person(&context)?;
    Ok(Answer::of(&SessionList::of(&context, &person.id).await?))
}

async fn end_session(context: Context) -> Result<Answer> {
    let person = signed_in_person(&context)?;
    own_account::end_session(&context, &person, context.param("session")).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

/// The signed-in person. Errors: `Conflict` for clients, keys and players, which have no account.
fn signed_in_person(context: &Context) -> Result<Person> {
    match context.grant.as_ref().and_then(Grant::holder) {
        Some(TokenHolder::Person(person)) => Ok(person.clone()),
        _ => {
            let message = "only people have an account; sign in as a person";
            Err(Problem::new(ProblemKind::Conflict, message))
        }
    }
}
