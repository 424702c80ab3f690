//! Sign-in of browsers, and information about the caller's token, key or session.

use axum::http::{StatusCode, header};
use lyceum_access::{Holder, Person, Scope, session};
use lyceum_core::{Problem, ProblemKind, Result, limits};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::auth::people::{self, Cookie};
use crate::auth::{self, sign_in};
use crate::context::Context;
use crate::render::Rendering;
use crate::route::{Access, Area, get, post};

pub(super) fn area() -> Area {
    let text = || json!({ "type": "string" });
    let scopes = json!({ "type": "array", "items": text() });
    Area {
        name: "people",
        base: "/api/auth",
        rendering: Rendering::Problem,
        says: "People who sign in, and who a token or key belongs to.",
        routes: vec![
            post("/sign-in", Access::Public, begin)
                .named("signIn")
                .says("Begins a session in a browser, by a cookie, with an e-mail address and a password.")
                .reads_up_to(limits::SIGN_IN_FORM_MAX_BYTES)
                .reads_schema(json!({
                    "type": "object",
                    "required": ["email", "password"],
                    "properties": { "email": text(), "password": text() },
                }))
                .answers_schema(200, "Whose session it is.", person_schema()),
            post("/sign-out", Access::SignedIn, end)
                .named("signOut")
                .says("Ends the session that the request is made with: a browser's, or a token of lyceum login.")
                .answers_empty(204, "It has ended."),
            get("/me", Access::SignedIn, me)
                .named("getMe")
                .says("Who the session, token or key belongs to, and what it may do.")
                .answers_schema(
                    200,
                    "Who it is.",
                    json!({
                        "type": "object",
                        "required": ["kind", "id", "name", "environment", "scopes"],
                        "properties": {
                            "kind": { "enum": ["person", "key", "client", "player"] },
                            "id": text(),
                            "name": text(),
                            "email": text(),
                            "role": { "enum": ["administrator", "guide", "developer"] },
                            "project": { "type": ["string", "null"] },
                            "environment": { "enum": ["local", "staging", "production"] },
                            "scopes": scopes,
                        },
                    }),
                ),
        ],
    }
}

fn person_schema() -> Value {
    let text = || json!({ "type": "string" });
    json!({
        "type": "object",
        "required": ["id", "email", "name", "role"],
        "properties": { "id": text(), "email": text(), "name": text(), "role": text() },
    })
}

#[derive(Deserialize)]
struct SignIn {
    email: String,
    password: String,
}

async fn begin(context: Context) -> Result<Answer> {
    if !people::is_own(&context.app, &context.headers) {
        let message =
            "pages of other sites cannot sign people in; use the sign-in page of this server";
        return Err(Problem::new(ProblemKind::Forbidden, message));
    }
    let asked: SignIn = serde_json::from_slice(&context.body).map_err(|_| {
        let message = "the body must have the form {\"email\": \"…\", \"password\": \"…\"}";
        Problem::new(ProblemKind::Malformed, message)
    })?;
    let (person, session) = sign_in::sign_in(&context, &asked.email, asked.password).await?;
    let cookie = Cookie::Session.set(&context.app, &session, limits::PAGE_SESSION_LIFETIME_S);
    Ok(Answer::of(&of_person(&person))
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::SET_COOKIE, cookie))
}

async fn end(context: Context) -> Result<Answer> {
    let grant = context.grant.as_ref().expect("the route is not public");
    if !matches!(grant.holder(), Some(Holder::Person(_))) {
        let message = "only people sign out; keys and clients are revoked";
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let bearer = auth::bearer(&context.headers);
    let text = bearer.or_else(|| people::session(&context.app, &context.headers));
    let text = text.expect("a person has one of the two").to_owned();
    context.app.db.write(move |tx| session::end(tx, &text)).await?;
    let gone = Cookie::Session.set(&context.app, "", 0);
    Ok(Answer::empty(StatusCode::NO_CONTENT).header(header::SET_COOKIE, gone))
}

async fn me(context: Context) -> Result<Answer> {
    let grant = context.grant.as_ref().expect("the route is not public");
    let mut told = match (grant.holder(), grant.player()) {
        (Some(Holder::Person(person)), _) => of_person(person),
        (Some(Holder::Key(key)), _) => json!({
            "id": key.id, "name": key.name, "role": key.role.name(), "project": key.project,
        }),
        (None, Some(player)) => json!({ "id": player.user, "name": player.user }),
        (None, None) => json!({ "id": grant.client_id(), "name": grant.client_id() }),
    };
    told["kind"] = match (grant.holder(), grant.player()) {
        (Some(Holder::Person(_)), _) => "person",
        (Some(Holder::Key(_)), _) => "key",
        (None, Some(_)) => "player",
        (None, None) => "client",
    }
    .into();
    told["environment"] = auth::environment(&context.app).into();
    told["scopes"] = grant.scopes().iter().map(Scope::name).collect();
    Ok(Answer::of(&told).header(header::CACHE_CONTROL, "no-store"))
}

fn of_person(person: &Person) -> Value {
    json!({
        "id": person.id,
        "email": person.email,
        "name": person.name,
        "role": person.role.name(),
    })
}
