//! Definitions of badges, and badges issued to learners.

use std::time::Duration;

use http::{StatusCode, header};
use lyceum_access::Scope::{
    CredentialsRead, CredentialsWrite, ObCredentialReadonly, ObCredentialUpsert,
};
use lyceum_core::Result;
use lyceum_core::limits::{PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS};
use lyceum_core::text::segment;
use lyceum_credentials::award::{self, AwardRequest, PreparedAward};
use lyceum_credentials::body;
use lyceum_credentials::definition::{self, BadgeDefinition, Definition, StoredDefinition};
use lyceum_credentials::documents::Credential;
use lyceum_credentials::issued::IssuedCredential;
use lyceum_http::answer::Answer;
use lyceum_http::etag;
use lyceum_http::route::{Access, ParamPlace, delete, get, post, put};
use lyceum_store::{Tx, run_blocking};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{PAGED, signer};
use crate::{Context, Route, limits};

/// A page of definitions.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct DefinitionPage {
    /// The definitions, in the order of creation.
    badges: Vec<BadgeDefinition>,
}

pub(super) fn routes() -> Vec<Route> {
    let award = |path, name: &'static str| {
        post(path, [ObCredentialUpsert, CredentialsWrite], issued)
            .within_reach()
            .named(name)
            .description("Issues a badge to a learner: signs a credential with the achievement of the definition.")
            .reads::<AwardRequest>()
            .answers::<Credential>(201, "The badge was issued.")
            .answers::<Credential>(200, "The same award was issued before.")
    };
    vec![
        get("/badges", [ObCredentialReadonly, CredentialsRead], list)
            .of_shared_content()
            .named("listBadges")
            .description("Lists the definitions of badges in the order of creation.")
            .page_limit(PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS)
            .param(
                ParamPlace::Query,
                "offset",
                json!({"type": "integer", "minimum": 0}),
                "The number of definitions before the page.",
            )
            .answers::<DefinitionPage>(200, "The page.")
            .with_headers(PAGED),
        post("/badges", [ObCredentialUpsert, CredentialsWrite], posted)
            .of_shared_content()
            .named("createBadge")
            .description("Stores a definition of a badge. The same definition again changes nothing; another definition with its id is a conflict.")
            .reads::<BadgeDefinition>()
            .answers::<BadgeDefinition>(201, "The definition was stored.")
            .answers::<BadgeDefinition>(200, "The same definition is stored already."),
        get("/badges/{id}", [ObCredentialReadonly, CredentialsRead], read)
            .of_shared_content()
            .named("getBadge")
            .description("Reads a definition by its id or by the id of its achievement.")
            .answers::<BadgeDefinition>(200, "The definition."),
        put("/badges/{id}", writes(), replaced)
            .of_shared_content()
            .of_version()
            .named("replaceBadge")
            .description("Replaces a definition, or restores a deleted one.")
            .reads::<BadgeDefinition>()
            .answers::<BadgeDefinition>(
                200,
                "The definition was replaced. Badges that were issued before do not change.",
            ),
        delete("/badges/{id}", writes(), deleted)
            .of_shared_content()
            .of_version()
            .named("deleteBadge")
            .description("Deletes a definition, so that it cannot be awarded. Badges that were issued before stay valid.")
            .answers_empty(204, "The definition was deleted. PUT restores it."),
        award("/issue-badge", "issueBadge"),
        award("/assertions", "createAssertion"),
    ]
}

fn writes() -> Access {
    [ObCredentialUpsert, CredentialsWrite].into()
}

async fn posted(context: Context) -> Result<Answer> {
    define(&context, body::read(&context.body)?).await
}

/// Stores a new definition.
pub(super) async fn define(context: &Context, document: BadgeDefinition) -> Result<Answer> {
    let definition = rehearse(context, document).await?;
    let (shown, now) = (definition.document.clone(), context.app.clock.now());
    let location = format!("{}/ims/ob/v3p0/badges/{}", context.base_url(), segment(&definition.id));
    let create = move |tx: &mut Tx<'_>| definition::create(tx, now, &definition);
    let (version, is_new) = context.app.db.write(create).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::of(&shown)
        .status(status)
        .header(header::ETAG, etag::tag(version))
        .header(header::LOCATION, location))
}

/// Checks a definition and signs a badge of it as a test, so that values that cannot be signed are refused now.
async fn rehearse(context: &Context, document: BadgeDefinition) -> Result<Definition> {
    let definition = Definition::read(document)?;
    let (signer, now) = (signer(context).await?, context.app.clock.now());
    run_blocking(move || definition.rehearse(&signer, now).map(|()| definition)).await
}

async fn replaced(context: Context) -> Result<Answer> {
    let definition = rehearse(&context, body::read(&context.body)?).await?;
    let (id, expected) = (context.param("id").to_owned(), etag::expected(&context)?);
    let (shown, now) = (definition.document.clone(), context.app.clock.now());
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

async fn list(context: Context) -> Result<Answer> {
    let slice = super::slice(&context)?;
    let (limit, offset) = (slice.limit, slice.offset);
    let read = move |tx: &mut Tx<'_>| definition::list(tx, limit, offset);
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    let (found, total) = context.app.db.scan(deadline, read).await?;
    let badges = found.into_iter().map(|stored| stored.definition.document).collect();
    let page = DefinitionPage { badges };
    Ok(super::paged(Answer::of(&page), &context, &slice, total))
}

async fn read(context: Context) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let stored: StoredDefinition =
        context.app.db.read(move |tx| definition::require(tx, &id)).await?;
    let tag = etag::tag(stored.version);
    Ok(Answer::of(&stored.definition.document).header(header::ETAG, tag))
}

async fn issued(context: Context) -> Result<Answer> {
    let request: AwardRequest = body::read(&context.body)?;
    let (issued, is_new) = issue(&context, request, |_, _| Ok(())).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let location = format!("{}/ims/ob/v3p0/assertions/{}", context.base_url(), issued.id);
    super::stored::credential(&context, &issued)
        .await
        .map(|answer| answer.status(status).header(header::LOCATION, location))
}

/// Issues a badge in the name of the caller's issuer. `note` runs in the transaction that stores a new badge. Returns
/// whether the badge is new. Errors: those of [`award::prepare`].
pub async fn issue(
    context: &Context,
    request: AwardRequest,
    note: impl Fn(&mut Tx<'_>, &IssuedCredential) -> Result<()> + Send + 'static,
) -> Result<(IssuedCredential, bool)> {
    let (signer, now) = (signer(context).await?, context.app.clock.now());
    let (base_url, reach) = (context.base_url().to_owned(), context.reach());
    let db = &context.app.db;
    let prepare =
        move |tx: &mut Tx<'_>| award::prepare(tx, now, &base_url, &request, signer.clone(), &reach);
    match db.write(prepare).await? {
        PreparedAward::Known(issued) => Ok((*issued, false)),
        PreparedAward::New(unsigned) => {
            let new = run_blocking(move || unsigned.sign(now)).await?;
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
