//! Agents, credentials for other systems, and demographics of users.

use http::StatusCode;
use lyceum_access::Scope;
use lyceum_access::audit::AuditChange;
use lyceum_access::sealed::SealedColumn;
use lyceum_core::{Problem, Result};
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, delete, get, post};
use lyceum_roster::credentials::{self, CredentialIds, Login, LoginInput};
use lyceum_roster::kinds::{DEMOGRAPHICS, USER};
use lyceum_roster::render::RecordView;
use lyceum_roster::{agents, repository};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::scopes::{RouteEffect, access};
use super::{respond, schema};
use crate::{Context, Route};

/// The agent of a user: the sourcedId, or a reference.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentInput {
    /// The agent's sourcedId. It is required without `agent`.
    agent_sourced_id: Option<String>,
    /// A reference to the agent.
    agent: Option<AgentReference>,
}

/// A reference to an agent.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct AgentReference {
    /// The agent's sourcedId.
    sourced_id: String,
}

/// A stored login.
#[derive(Serialize, JsonSchema)]
struct StoredCredential {
    #[serde(flatten)]
    ids: CredentialIds,
    /// Says that the password is encrypted.
    message: &'static str,
}

/// The password of a login.
#[derive(Serialize, JsonSchema)]
struct DecryptedPassword {
    /// The password in plain text.
    password: String,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/users/{userSourcedId}/agents", access(&USER, RouteEffect::Put), add_agent)
            .within_reach()
            .named("addAgent")
            .description("Adds an agent, such as a guardian, to a user.")
            .reads::<AgentInput>()
            .answers_kind(201, "Added, or an agent already.", move || schema::single(super::collection(&USER))),
        delete(
            "/users/{userSourcedId}/agents/{agentSourcedId}",
            access(&USER, RouteEffect::Delete),
            remove_agent,
        )
        .within_reach()
        .named("removeAgent")
        .description("Removes an agent from a user.")
        .answers_empty(204, "Removed."),
        post("/users/{userSourcedId}/credentials", Scope::RosterWrite, register)
            .within_reach()
            .named("createCredential")
            .description("Stores a user's login for another system; the password is encrypted.")
            .reads::<LoginInput>()
            .answers::<StoredCredential>(201, "Stored."),
        post(
            "/users/{userSourcedId}/credentials/{credentialId}/decrypt",
            Scope::PasswordsRead,
            decrypt,
        )
        .within_reach()
        .named("decryptCredential")
        .description("Shows the password of a user's login for another system. Each call is in the audit log.")
        .answers::<DecryptedPassword>(200, "The password."),
        get("/users/{userSourcedId}/demographics", with_demographics(), user_with_demographics)
            .within_reach()
            .named("getUserWithDemographics")
            .description("Reads a user together with the demographics.")
            .answers_kind(200, "The user and the demographics.", schema::user_with_demographics),
    ]
}

/// Requires the scopes for both users and demographics.
fn with_demographics() -> Access {
    let scopes = |kind| access(kind, RouteEffect::ReadCore).scopes().unwrap_or_default();
    Access::Both(scopes(&USER), scopes(&DEMOGRAPHICS))
}

async fn add_agent(context: Context) -> Result<Answer> {
    let AgentInput { agent_sourced_id, agent } = context.body_as()?;
    let Some(agent) = agent_sourced_id.or(agent.map(|agent| agent.sourced_id)) else {
        return Err(Problem::invalid("agentSourcedId", "is required; send the agent's sourcedId"));
    };
    let user = context.param("userSourcedId").to_owned();
    let (now, reach) = (context.app.clock.now(), context.reach());
    let add = move |tx: &mut Tx<'_>| agents::add(tx, &user, &agent, now, &reach);
    let put = context.app.db.write(add).await?;
    let view = RecordView { base_url: context.base_url(), dialect: context.dialect, fields: None };
    let body = respond::single(&view, super::collection(&USER), &put.stored)?;
    Ok(Answer::json(body).status(StatusCode::CREATED))
}

async fn remove_agent(context: Context) -> Result<Answer> {
    let user = context.param("userSourcedId").to_owned();
    let agent = context.param("agentSourcedId").to_owned();
    let (now, reach) = (context.app.clock.now(), context.reach());
    context.app.db.write(move |tx| agents::remove(tx, &user, &agent, now, &reach)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

/// The sealed passwords of users in other systems.
pub const SEALED_PASSWORDS: SealedColumn = SealedColumn {
    table: "user_credentials",
    column: "sealed",
    key: &["user_id", "id"],
    label: |key| label(&key[0], &key[1]),
};

/// The context to which a sealed password is bound. It cannot be decrypted for another user or login.
fn label(user: &str, id: &str) -> String {
    format!("user credential {user} {id}")
}

async fn register(context: Context) -> Result<Answer> {
    let login = Login::of(context.body_as()?)?;
    let user = context.param("userSourcedId").to_owned();
    let (now, reach) = (context.app.clock.now(), context.reach());
    let id = credentials::id(&user, &login);
    let keyring = context.app.gate.keyring();
    let sealed = keyring.master().seal(&label(&user, &id), login.password.as_bytes());
    let register =
        move |tx: &mut Tx<'_>| credentials::register(tx, &user, &login, &sealed, now, &reach);
    let ids = context.app.db.write(register).await?;
    let message = "The credential is stored; its password is encrypted.";
    Ok(Answer::of(&StoredCredential { ids, message }).status(StatusCode::CREATED))
}

async fn decrypt(context: Context) -> Result<Answer> {
    let user = context.param("userSourcedId").to_owned();
    let id = context.param("credentialId").to_owned();
    let (label, now, reach) = (label(&user, &id), context.app.clock.now(), context.reach());
    let grant = context.grant.as_ref().expect("the route is not public");
    // Record the id of the key, because another key may get the same name later.
    let (who, caller) = (grant.name().to_owned(), grant.client_id().to_owned());
    // The audit entry must be durable before the password is sent.
    let noted = context.app.db.write(move |tx| {
        let credential = credentials::find(tx, &user, &id, &reach)?;
        let details = json!({
            "credential": id, "application": credential.application, "callerId": caller,
        });
        let change = AuditChange { who: &who, what: "password.decrypt", subject: &user };
        change.note(tx, now, &details)?;
        Ok(credential.sealed)
    });
    let opened = context.app.gate.keyring().master().open(&label, &noted.await?);
    let opened = opened.ok_or_else(|| Problem::internal("cannot decrypt a credential"))?;
    let password = String::from_utf8(opened).map_err(Problem::internal)?;
    Ok(Answer::of(&DecryptedPassword { password }))
}

/// Published clients read the user with the demographics at this address.
async fn user_with_demographics(context: Context) -> Result<Answer> {
    let (id, reach) = (context.param("userSourcedId").to_owned(), context.reach());
    let dialect = context.dialect;
    let app = context.app.clone();
    let body = context
        .app
        .db
        .read(move |tx| {
            let view = RecordView { base_url: &app.base_url, dialect, fields: None };
            let user = repository::find_within(tx, &USER, &id, &reach)?
                .ok_or_else(|| Problem::not_found(USER.one, &id))?;
            let mut body = respond::single(&view, super::collection(&USER), &user)?;
            if let Some(facts) = repository::find(tx, &DEMOGRAPHICS, &id)? {
                // Insert into the user: two braces follow its last member.
                body.truncate(body.len() - 2);
                body.push_str(",\"demographics\":");
                view.render(&facts.body, facts.extra.as_deref(), &mut body)?;
                body.push_str("}}");
            }
            Ok(body)
        })
        .await?;
    Ok(Answer::json(body))
}
