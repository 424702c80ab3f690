//! Sign-in of browsers, and information about the caller's token, key or session.

use axum::http::{StatusCode, header};
use lyceum_access::limits::PAGE_SESSION_LIFETIME_S;
use lyceum_access::{Person, Role, Scope, Student, TokenHolder, session};
use lyceum_core::{Problem, ProblemKind, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::auth::people::{self, SessionCookies};
use crate::auth::{self, sign_in};
use crate::context::Context;
use crate::limits;
use crate::render::Rendering;
use crate::route::{Access, Area, get, post};

pub(super) fn area() -> Area {
    Area {
        name: "people",
        base: "/api/auth",
        rendering: Rendering::Problem,
        description: "Sign-in of people, and the owner of a token or key.",
        routes: vec![
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
            get("/me", Access::SignedIn, me)
                .of_no_organization()
                .named("getMe")
                .description("Reads the owner of the session, token or key, and its scopes.")
                .answers::<Caller>(200, "The owner and the scopes."),
        ],
    }
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
    let gone = SessionCookies::Session.set(&context.app, "", 0);
    Ok(Answer::empty(StatusCode::NO_CONTENT).header(header::SET_COOKIE, gone))
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
