//! Stored credentials of this server and of other issuers: lists, reading and verifying one, revoking one.

use std::time::Duration;

use http::{HeaderValue, StatusCode};
use lyceum_access::Scope::{
    CredentialsRead, CredentialsWrite, ObCredentialReadonly, ObCredentialUpsert,
};
use lyceum_core::limits::{PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS};
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_credentials::body;
use lyceum_credentials::definition::BadgeDefinition;
use lyceum_credentials::documents::{Credential, RevocationRequest, SignedBadge};
use lyceum_credentials::issued::{
    self, CredentialForm, CredentialText, IssuedCredential, Page, SignedCredentials, UpsertOutcome,
};
use lyceum_credentials::issuer::Issuer;
use lyceum_credentials::verify::{Revocation, VerifiedCredential};
use lyceum_http::Body;
use lyceum_http::answer::Answer;
use lyceum_http::route::{ParamPlace, get, post};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{MEDIA, PAGED, as_jwt, badges, is_jws, verify, wants_jws, wants_rsa};
use crate::{Context, Route, limits};

const JSON_LD: HeaderValue = HeaderValue::from_static("application/vc+ld+json");

/// A signed badge or the definition of a badge. The type of the subject decides: `AchievementSubject` or Achievement.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "the handler looks at the subject before it reads the body as one of the two"
)]
enum BadgeDocument {
    /// A signed badge.
    Signed(SignedBadge),
    /// The definition of a badge.
    Definition(BadgeDefinition),
}

pub(super) fn routes() -> Vec<Route> {
    let text = || json!({ "type": "string" });
    vec![
        list_parameters(
            get("/credentials", [ObCredentialReadonly, CredentialsRead], list)
                .within_reach()
                .named("getCredentials")
                .description("Lists the stored credentials in the order in which they became valid.")
                .param(ParamPlace::Query, "userId", text(), OF_USER),
        )
        .answers::<SignedCredentials>(200, "The page.")
        .with_headers(PAGED),
        // Credentials of other issuers and definitions belong to no organization, so that limited callers store none.
        post("/credentials", [ObCredentialUpsert, CredentialsWrite], posted)
            .named("upsertCredential")
            .description("Stores a signed credential or the definition of a badge. The type of the subject decides which of both it is.")
            .reads_as(MEDIA)
            .reads::<BadgeDocument>()
            .answers::<Credential>(201, "The document was stored. The answer is the document as it was sent.")
            .answers::<Credential>(200, "The document replaced an older one.")
            .answers_empty(304, "The stored credential is not older, so nothing changed."),
        list_parameters(
            get("/assertions", [ObCredentialReadonly, CredentialsRead], list)
                .within_reach()
                .named("listAssertions")
                .description("Lists the stored credentials of a student, or of all students.")
                .param(ParamPlace::Query, "userId", text(), OF_USER),
        )
        .answers::<SignedCredentials>(200, "The page.")
        .with_headers(PAGED),
        get("/assertions/{id}", [ObCredentialReadonly, CredentialsRead], read)
            .within_reach()
            .named("getAssertion")
            .description("Reads a credential and verifies it.")
            .param(ParamPlace::Query, "format", json!({ "enum": ["json", "jwt"] }), "jwt answers only the credential, as a JWT.")
            .param(ParamPlace::Query, "alg", json!({ "enum": ["EdDSA", "RS256"] }), "The algorithm of the JWT.")
            .answers::<VerifiedCredential>(200, "The credential and the result of each check."),
        post("/assertions/{id}/revoke", [ObCredentialUpsert, CredentialsWrite], revoked)
            .within_reach()
            .named("revokeAssertion")
            .description("Revokes a credential of this server permanently.")
            .reads::<RevocationRequest>()
            .answers::<VerifiedCredential>(200, "The credential is revoked, now or since before."),
    ]
}

const OF_USER: &str = "Only credentials that this server issued to the user with this sourcedId.";

/// The parameters of a list of credentials.
pub(crate) fn list_parameters(route: Route) -> Route {
    route
        .page_limit(PAGE_DEFAULT_RECORDS, PAGE_MAX_RECORDS)
        .param(
            ParamPlace::Query,
            "offset",
            json!({"type": "integer", "minimum": 0}),
            "The number of credentials before the page.",
        )
        .param(
            ParamPlace::Query,
            "since",
            json!({"type": "string", "format": "date-time"}),
            "Only credentials that became valid, or were stored, changed or revoked here, after this instant.",
        )
}

/// The instant of `since`, once all changes up to now are stored. Errors: `BadSelection`.
pub(crate) async fn since(context: &Context) -> Result<Option<lyceum_core::time::Timestamp>> {
    let Some(since) = context.query_value("since") else { return Ok(None) };
    // A plus sign in a query that was not escaped arrives as a space.
    let since = since.replace(' ', "+").parse().map_err(|_| {
        let message = "the parameter 'since' must be an instant such as 2026-01-15T08:00:00Z";
        Problem::new(ProblemKind::BadSelection, message)
    })?;
    context.app.db.records_complete_until(context.app.clock.now()).await?;
    Ok(Some(since))
}

async fn list(context: Context) -> Result<Answer> {
    let slice = super::slice(&context)?;
    let page = Page {
        limit: slice.limit,
        offset: slice.offset,
        since: since(&context).await?,
        learner: context.query_value("userId"),
        reach: context.reach(),
    };
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    let (found, total) =
        context.app.db.scan(deadline, move |tx| issued::list_of(tx, &page)).await?;
    let texts = found.iter().map(|issued| (issued.signed.form, issued.signed.body.as_str()));
    let answer = Answer::of(&SignedCredentials::of(texts)?);
    Ok(super::paged(answer, &context, &slice, total))
}

async fn posted(context: Context) -> Result<Answer> {
    if is_jws(&context) {
        let signed = CredentialText::read_jws(context.text()?)?;
        return upserted(&context, signed).await;
    }
    let object = body::parse(&context.body)?;
    let subject = object.get("credentialSubject").and_then(Value::as_object);
    let is = |wanted| subject.is_some_and(|subject| body::has_type(subject, wanted));
    if is("AchievementSubject") {
        let badge: SignedBadge = lyceum_core::body::of(object.into())?;
        let signed = CredentialText::read(&badge, context.text()?.trim())?;
        return upserted(&context, signed).await;
    }
    if is("Achievement") {
        return badges::define(&context, lyceum_core::body::of(object.into())?).await;
    }
    Err(Problem::invalid(
        "credentialSubject.type",
        "must contain AchievementSubject, for a credential, or Achievement, for the definition of a badge",
    ))
}

async fn upserted(context: &Context, signed: CredentialText) -> Result<Answer> {
    check_own(context, &signed.body, own_issuer(context, &signed.body).await?).await?;
    let now = context.app.clock.now();
    let (form, body) = (signed.form, signed.body.clone());
    let outcome = context.app.db.write(move |tx| issued::upsert(tx, now, &signed)).await?;
    let status = match outcome {
        UpsertOutcome::Created => StatusCode::CREATED,
        UpsertOutcome::Replaced => StatusCode::OK,
        UpsertOutcome::NotNewer => return Ok(Answer::empty(StatusCode::NOT_MODIFIED)),
    };
    Ok(match form {
        CredentialForm::Json => Answer::json(body),
        CredentialForm::Jws => super::jws(context, body),
    }
    .status(status))
}

/// The issuer of this server that a signed text names, if it names one.
pub(crate) async fn own_issuer(context: &Context, signed: &str) -> Result<Option<Issuer>> {
    let object = match signed.starts_with('{') {
        true => body::parse(signed.as_bytes())?,
        false => issued::payload(signed)?,
    };
    let named = body::issuer_id(&object).unwrap_or_default().to_owned();
    let base_url = context.base_url().to_owned();
    let issuers = context.app.db.read(move |tx| Issuer::all(tx, &base_url)).await?;
    Ok(issuers.into_iter().find(|issuer| issuer.did == named))
}

/// Verifies a credential that names an issuer of this server, so that nobody can store a forged one.
/// Errors: `Invalid`.
pub(crate) async fn check_own(
    context: &Context,
    signed: &str,
    issuer: Option<Issuer>,
) -> Result<()> {
    let Some(issuer) = issuer else { return Ok(()) };
    let report = verify::report(&context.app, signed.to_owned().into()).await?;
    match report.refusal() {
        None => Ok(()),
        Some(refusal) => {
            let message = message!("is not a proof of the issuer '{issuer.did}': {refusal}");
            Err(Problem::invalid("proof", message))
        }
    }
}

async fn read(context: Context) -> Result<Answer> {
    let (id, reach) = (context.param("id").to_owned(), context.reach());
    let issued = context.app.db.read(move |tx| issued::require(tx, &id, &reach)).await?;
    if wants_jws(&context) {
        return jwt(&context, &issued).await;
    }
    verified(&context, &issued).await
}

/// `POST …/revoke` of a credential.
async fn revoked(context: Context) -> Result<Answer> {
    let reason = context.body_as::<RevocationRequest>()?.reason();
    let (id, now, reach) =
        (context.param("id").to_owned(), context.app.clock.now(), context.reach());
    let revoke = move |tx: &mut lyceum_store::Tx<'_>| {
        issued::revoke(tx, now, &id, reason.as_deref(), &reach)
    };
    let issued = context.app.db.write(revoke).await?;
    verified(&context, &issued).await
}

/// The credential and the result of its verification.
async fn verified(context: &Context, issued: &IssuedCredential) -> Result<Answer> {
    let signed = &issued.signed;
    let report = verify::report(&context.app, signed.body.clone().into()).await?;
    let revoked = issued.revoked.clone();
    Ok(Answer::of(&VerifiedCredential {
        credential: issued.object()?.into(),
        compact_jws_string: (signed.form == CredentialForm::Jws).then(|| signed.body.clone()),
        revoked: revoked.map(|at| Revocation { at, reason: issued.reason.clone() }),
        page: Some(format!("{}/credentials/{}", context.base_url(), issued.id)),
        ..report.into()
    }))
}

/// A credential in the form that the caller requests, or in the form in which it was signed.
pub async fn credential(context: &Context, issued: &IssuedCredential) -> Result<Answer> {
    if wants_jws(context) || issued.signed.form == CredentialForm::Jws {
        return jwt(context, issued).await;
    }
    Ok(Answer::json(issued.signed.body.clone()))
}

/// A credential as JSON-LD.
pub fn json_ld(issued: &IssuedCredential) -> Result<Answer> {
    let body = match issued.signed.form {
        CredentialForm::Json => issued.signed.body.clone(),
        CredentialForm::Jws => Value::Object(issued.object()?).to_string(),
    };
    Ok(Answer::typed(JSON_LD, Body::from(body)))
}

/// A credential as a compact JWS. If it has another form, its issuer on this server signs it again.
/// Errors: `Invalid` for a credential that another server issued in another form.
pub async fn jwt(context: &Context, issued: &IssuedCredential) -> Result<Answer> {
    if issued.signed.form == CredentialForm::Jws {
        return Ok(super::jws(context, issued.signed.body.clone()));
    }
    let Some(id) = issued.issued_by.clone() else {
        let message = "the credential was issued elsewhere with an embedded proof; only its issuer can \
                       sign it as a JWT";
        return Err(Problem::invalid("format", message));
    };
    let base_url = context.base_url().to_owned();
    let signer = context.app.db.read(move |tx| Issuer::find(tx, &base_url, &id)).await?;
    let with_rsa = wants_rsa(context)?;
    let jwt = as_jwt(&context.app, &signer, issued.object()?.into(), with_rsa).await?;
    Ok(super::jws(context, jwt))
}
