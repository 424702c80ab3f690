//! Definitions of badges, and badges issued to learners.

use std::time::Duration;

use axum::http::{StatusCode, header};
use lyceum_access::Scope::{
    CredentialsRead, CredentialsWrite, ObCredentialReadonly, ObCredentialUpsert,
};
use lyceum_core::text::segment;
use lyceum_core::{Result, limits};
use lyceum_credentials::award::{self, AwardRequest, Prepared};
use lyceum_credentials::body::{self, Object};
use lyceum_credentials::definition::{self, Definition, StoredDefinition};
use lyceum_credentials::issued::Issued;
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::{schema, signer};
use crate::answer::Answer;
use crate::apart::apart;
use crate::context::Context;
use crate::etag;
use crate::route::{Access, ParamPlace, Route, delete, get, post, put};

pub(super) fn routes() -> Vec<Route> {
    let award = |path, name: &'static str| {
        post(path, [ObCredentialUpsert, CredentialsWrite], issued)
            .named(name)
            .says("Issues a badge to a learner: the definition's achievement, signed.")
            .reads_schema(schema::award())
            .answers_schema(201, "Issued.", schema::credential())
            .answers_schema(200, "The same award was issued before.", schema::credential())
    };
    vec![
        get("/badges", [ObCredentialReadonly, CredentialsRead], listed)
            .named("listBadges")
            .says("The definitions of badges, in the order of creation.")
            .param(
                ParamPlace::Query,
                "limit",
                json!({"type": "integer", "minimum": 1}),
                "Definitions at most.",
            )
            .param(
                ParamPlace::Query,
                "offset",
                json!({"type": "integer", "minimum": 0}),
                "How many to pass over.",
            )
            .answers_schema(200, "The page.", schema::list_of("badges", schema::definition()))
            .with_headers(schema::PAGED),
        post("/badges", [ObCredentialUpsert, CredentialsWrite], posted)
            .named("createBadge")
            .says("Stores a definition of a badge. The same definition again changes nothing; another one with its id is a conflict.")
            .reads_schema(schema::definition())
            .answers_schema(201, "Stored.", schema::definition())
            .answers_schema(200, "The same definition is stored already.", schema::definition()),
        get("/badges/{id}", [ObCredentialReadonly, CredentialsRead], read)
            .named("getBadge")
            .says("A definition, by its id or that of its achievement.")
            .answers_schema(200, "The definition.", schema::definition()),
        put("/badges/{id}", writes(), replaced)
            .of_version()
            .named("replaceBadge")
            .says("Replaces a definition, or restores a deleted one.")
            .reads_schema(schema::definition())
            .answers_schema(
                200,
                "Replaced; badges that were issued before keep what they say.",
                schema::definition(),
            ),
        delete("/badges/{id}", writes(), deleted)
            .of_version()
            .named("deleteBadge")
            .says("Deletes a definition: nobody can be awarded it. Badges that were issued before stay.")
            .answers_empty(204, "Deleted; PUT restores it."),
        award("/issue-badge", "issueBadge"),
        award("/assertions", "createAssertion"),
    ]
}

fn writes() -> Access {
    [ObCredentialUpsert, CredentialsWrite].into()
}

async fn posted(context: Context) -> Result<Answer> {
    let body = body::parse(&context.body)?;
    defined(&context, body).await
}

/// Stores a new definition.
pub(super) async fn defined(context: &Context, body: Object) -> Result<Answer> {
    let definition = rehearsed(context, body).await?;
    let (shown, now) = (Value::Object(definition.body.clone()), context.app.clock.now());
    let location = format!("{}/ims/ob/v3p0/badges/{}", context.base_url(), segment(&definition.id));
    let create = move |tx: &mut Tx<'_>| definition::create(tx, now, &definition);
    let (version, is_new) = context.app.db.write(create).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::of(&shown)
        .status(status)
        .header(header::ETAG, etag::tag(version))
        .header(header::LOCATION, location))
}

/// Reads a definition and signs it once for nobody, so that what cannot be signed is refused now.
async fn rehearsed(context: &Context, body: Object) -> Result<Definition> {
    let definition = Definition::read(body)?;
    let (signer, now) = (signer(context).await?, context.app.clock.now());
    apart(move || definition.rehearse(&signer, now).map(|()| definition)).await
}

async fn replaced(context: Context) -> Result<Answer> {
    let definition = rehearsed(&context, body::parse(&context.body)?).await?;
    let (id, expected) = (context.param("id").to_owned(), etag::expected(&context)?);
    let (shown, now) = (Value::Object(definition.body.clone()), context.app.clock.now());
    let replace = move |tx: &mut Tx<'_>| definition::replace(tx, now, &id, &definition, expected);
    let version = context.app.db.write(replace).await?;
    Ok(Answer::of(&shown).header(header::ETAG, etag::tag(version)))
}

async fn deleted(context: Context) -> Result<Answer> {
    let (id, expected) = (context.param("id").to_owned(), etag::expected(&context)?);
    let now = context.app.clock.now();
    context.app.db.write(move |tx| definition::delete(tx, now, &id, expected)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn listed(context: Context) -> Result<Answer> {
    let slice = super::slice(&context)?;
    let (limit, offset) = (slice.limit, slice.offset);
    let read = move |tx: &mut Tx<'_>| definition::list(tx, limit, offset);
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    let (found, total) = context.app.db.scan(deadline, read).await?;
    let badges: Vec<Value> =
        found.into_iter().map(|stored| stored.definition.body.into()).collect();
    Ok(super::paged(Answer::of(&json!({ "badges": badges })), &context, &slice, total))
}

async fn read(context: Context) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let stored: StoredDefinition =
        context.app.db.read(move |tx| definition::found(tx, &id)).await?;
    let tag = etag::tag(stored.version);
    Ok(Answer::of(&stored.definition.body).header(header::ETAG, tag))
}

async fn issued(context: Context) -> Result<Answer> {
    let request = AwardRequest::read(&body::parse(&context.body)?, context.base_url())?;
    let (issued, is_new) = issue(&context, request, |_, _| Ok(())).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let location = format!("{}/ims/ob/v3p0/assertions/{}", context.base_url(), issued.id);
    super::kept::credential(&context, &issued)
        .await
        .map(|answer| answer.status(status).header(header::LOCATION, location))
}

/// Issues a badge as the caller's issuer; `note` writes what is to be noted of a new one beside it. Answers
/// whether it is new. Errors: those of [`award::prepare`].
pub(in crate::routes) async fn issue(
    context: &Context,
    request: AwardRequest,
    note: impl Fn(&mut Tx<'_>, &Issued) -> Result<()> + Send + 'static,
) -> Result<(Issued, bool)> {
    let (signer, now) = (signer(context).await?, context.app.clock.now());
    let base_url = context.base_url().to_owned();
    let db = &context.app.db;
    let prepare =
        move |tx: &mut Tx<'_>| award::prepare(tx, now, &base_url, &request, signer.clone());
    match db.write(prepare).await? {
        Prepared::Known(issued) => Ok((*issued, false)),
        Prepared::New(unsigned) => {
            let new = apart(move || unsigned.sign(now)).await?;
            db.write(move |tx| {
                let (issued, is_new) = award::store(tx, now, &new)?;
                if is_new {
                    note(tx, &issued)?;
                }
                Ok((issued, is_new))
            })
            .await
        }
    }
}
