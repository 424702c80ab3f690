//! Credentials that are kept: those of this server and of others; listed, read and verified, revoked.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode};
use lyceum_access::Scope::{
    CredentialsRead, CredentialsWrite, ObCredentialReadonly, ObCredentialUpsert,
};
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_credentials::body::{self, Object};
use lyceum_credentials::issued::{self, CredentialForm, CredentialText, Issued, Page, Upserted};
use lyceum_credentials::issuer::Issuer;
use serde_json::{Map, Value, json};

use super::{MEDIA, as_jwt, badges, is_jws, is_rsa_wanted, schema, verify, wants_jws};
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{ParamPlace, Route, get, post};

const JSON_LD: HeaderValue = HeaderValue::from_static("application/vc+ld+json");

pub(super) fn routes() -> Vec<Route> {
    let text = || json!({ "type": "string" });
    vec![
        list_parameters(
            get("/credentials", [ObCredentialReadonly, CredentialsRead], listed)
                .named("getCredentials")
                .says("The credentials that are kept here, in the order in which they became valid.")
                .param(ParamPlace::Query, "userId", text(), OF_USER),
        )
        .answers_schema(200, "The page.", schema::credentials())
        .with_headers(schema::PAGED),
        post("/credentials", [ObCredentialUpsert, CredentialsWrite], posted)
            .named("upsertCredential")
            .says("Keeps a signed credential, or stores a definition of a badge: the type of the subject tells.")
            .reads_as(MEDIA)
            .reads_schema(json!({ "type": "object" }))
            .answers_schema(201, "Kept; the body is the one that was sent.", schema::credential())
            .answers_schema(200, "Kept in place of an older one.", schema::credential())
            .answers_empty(304, "The one that is kept is not older."),
        list_parameters(
            get("/assertions", [ObCredentialReadonly, CredentialsRead], listed)
                .named("listAssertions")
                .says("The badges of a student, or of all: the same list as of credentials.")
                .param(ParamPlace::Query, "userId", text(), OF_USER),
        )
        .answers_schema(200, "The page.", schema::credentials())
        .with_headers(schema::PAGED),
        get("/assertions/{id}", [ObCredentialReadonly, CredentialsRead], read)
            .named("getAssertion")
            .says("A credential, and what came of verifying it: each check by name.")
            .param(ParamPlace::Query, "format", json!({ "enum": ["json", "jwt"] }), "The credential alone as a JWT.")
            .param(ParamPlace::Query, "alg", json!({ "enum": ["EdDSA", "RS256"] }), "The algorithm of the JWT.")
            .answers_schema(200, "The credential and the report.", schema::verified()),
        post("/assertions/{id}/revoke", [ObCredentialUpsert, CredentialsWrite], revoked)
            .named("revokeAssertion")
            .says("Revokes a credential of this server for good.")
            .reads_schema(json!({ "type": "object", "properties": { "reason": text() } }))
            .answers_schema(200, "Revoked, now or before.", schema::verified()),
    ]
}

const OF_USER: &str = "Only those that this server issued to the user with this sourcedId.";

/// The parameters of a list of credentials.
pub(in crate::routes) fn list_parameters(route: Route) -> Route {
    route
        .param(
            ParamPlace::Query,
            "limit",
            json!({"type": "integer", "minimum": 1}),
            "Credentials at most.",
        )
        .param(
            ParamPlace::Query,
            "offset",
            json!({"type": "integer", "minimum": 0}),
            "How many to pass over.",
        )
        .param(
            ParamPlace::Query,
            "since",
            json!({"type": "string", "format": "date-time"}),
            "Only those that are valid from later than this.",
        )
}

/// The instant of `since`. Errors: `BadSelection`.
pub(in crate::routes) fn since(context: &Context) -> Result<Option<lyceum_core::time::Timestamp>> {
    let Some(since) = context.asked("since") else { return Ok(None) };
    // A plus sign in a query that was not escaped arrives as a space.
    since.replace(' ', "+").parse().map(Some).map_err(|_| {
        let message = "the parameter 'since' is an instant such as 2026-01-15T08:00:00Z";
        Problem::new(ProblemKind::BadSelection, message)
    })
}

async fn listed(context: Context) -> Result<Answer> {
    let slice = super::slice(&context)?;
    let learner = context.asked("userId");
    let page = Page { limit: slice.limit, offset: slice.offset, since: since(&context)?, learner };
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    let (found, total) =
        context.app.db.scan(deadline, move |tx| issued::list_of(tx, &page)).await?;
    let by_form = found.iter().map(|issued| (issued.kept.form, issued.kept.body.as_str()));
    Ok(super::paged(by_forms(by_form)?, &context, &slice, total))
}

/// `{credential: […], compactJwsString: […]}`.
pub(in crate::routes) fn by_forms<'b>(
    found: impl Iterator<Item = (CredentialForm, &'b str)>,
) -> Result<Answer> {
    let (mut credentials, mut texts) = (Vec::new(), Vec::new());
    for (form, body) in found {
        match form {
            CredentialForm::Json => {
                credentials.push(serde_json::from_str::<Value>(body).map_err(Problem::internal)?);
            }
            CredentialForm::Jws => texts.push(Value::from(body)),
        }
    }
    Ok(Answer::of(&json!({ "credential": credentials, "compactJwsString": texts })))
}

async fn posted(context: Context) -> Result<Answer> {
    if is_jws(&context) {
        let kept = CredentialText::read_jws(context.text()?)?;
        return upserted(&context, kept).await;
    }
    let object = body::parse(&context.body)?;
    let is = |wanted| {
        let subject = object.get("credentialSubject").and_then(Value::as_object);
        subject.is_some_and(|subject| body::has_type(subject, wanted))
    };
    if is("AchievementSubject") {
        let kept = CredentialText::read(&object, context.text()?.trim())?;
        return upserted(&context, kept).await;
    }
    if is("Achievement") {
        return badges::defined(&context, object).await;
    }
    Err(Problem::invalid(
        "credentialSubject.type",
        "must hold AchievementSubject, for a credential, or Achievement, for the definition of a badge",
    ))
}

async fn upserted(context: &Context, kept: CredentialText) -> Result<Answer> {
    check_own(context, &kept.body, own_issuer(context, &kept.body).await?).await?;
    let now = context.app.clock.now();
    let (form, body) = (kept.form, kept.body.clone());
    let upserted = context.app.db.write(move |tx| issued::upsert(tx, now, &kept)).await?;
    let status = match upserted {
        Upserted::Created => StatusCode::CREATED,
        Upserted::Replaced => StatusCode::OK,
        Upserted::NotNewer => return Ok(Answer::empty(StatusCode::NOT_MODIFIED)),
    };
    Ok(match form {
        CredentialForm::Json => Answer::json(body),
        CredentialForm::Jws => super::text(body),
    }
    .status(status))
}

/// The issuer of this server that a signed text names, if it names one.
pub(in crate::routes) async fn own_issuer(
    context: &Context,
    signed: &str,
) -> Result<Option<Issuer>> {
    let object = match signed.starts_with('{') {
        true => body::parse(signed.as_bytes())?,
        false => issued::payload(signed)?,
    };
    let named = body::issuer_id(&object).unwrap_or_default().to_owned();
    let base_url = context.base_url().to_owned();
    let issuers = context.app.db.read(move |tx| Issuer::all(tx, &base_url)).await?;
    Ok(issuers.into_iter().find(|issuer| issuer.did == named))
}

/// What says that an issuer of this server signed it must verify: nobody else puts words into its mouth.
/// Errors: `Invalid`.
pub(in crate::routes) async fn check_own(
    context: &Context,
    signed: &str,
    issuer: Option<Issuer>,
) -> Result<()> {
    let Some(issuer) = issuer else { return Ok(()) };
    let report = verify::report(&context.app, signed.to_owned().into()).await?;
    match report.refusal() {
        None => Ok(()),
        Some(told) => {
            let message = format!("is not one of the issuer '{}': {told}", issuer.did);
            Err(Problem::invalid("proof", message))
        }
    }
}

async fn read(context: Context) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let issued = context.app.db.read(move |tx| issued::found(tx, &id)).await?;
    if wants_jws(&context) {
        return jwt(&context, &issued).await;
    }
    verified(&context, &issued).await
}

/// The reason in the body of a revocation. Errors: `Invalid` for one that is too long.
pub(in crate::routes) fn reason(context: &Context) -> Result<Option<String>> {
    let body = match context.body.is_empty() {
        true => Object::new(),
        false => body::parse(&context.body)?,
    };
    let reason = body::opt_text(&body, "reason", "reason")?.map(str::to_owned);
    if reason.as_ref().is_some_and(|reason| reason.len() > limits::REVOCATION_REASON_MAX_BYTES) {
        let most = limits::REVOCATION_REASON_MAX_BYTES;
        return Err(Problem::invalid("reason", format!("must have at most {most} bytes")));
    }
    Ok(reason)
}

/// `POST …/revoke` of a credential.
async fn revoked(context: Context) -> Result<Answer> {
    let reason = reason(&context)?;
    let (id, now) = (context.param("id").to_owned(), context.app.clock.now());
    let revoke =
        move |tx: &mut lyceum_store::Tx<'_>| issued::revoke(tx, now, &id, reason.as_deref());
    let issued = context.app.db.write(revoke).await?;
    verified(&context, &issued).await
}

/// The credential with what came of verifying it.
async fn verified(context: &Context, issued: &Issued) -> Result<Answer> {
    let report = verify::report(&context.app, issued.kept.body.clone().into()).await?;
    let mut shown = Map::new();
    match issued.kept.form {
        CredentialForm::Json => {
            drop(shown.insert("credential".to_owned(), issued.object()?.into()));
        }
        CredentialForm::Jws => {
            shown.insert("compactJwsString".to_owned(), issued.kept.body.as_str().into());
            shown.insert("credential".to_owned(), issued.object()?.into());
        }
    }
    if let Some(at) = &issued.revoked {
        let mut revoked = json!({ "at": at });
        if let Some(reason) = &issued.reason {
            revoked["reason"] = reason.as_str().into();
        }
        shown.insert("revoked".to_owned(), revoked);
    }
    let page = format!("{}/credentials/{}", context.base_url(), issued.id);
    shown.insert("page".to_owned(), page.into());
    shown.insert("verification".to_owned(), report.shown());
    Ok(Answer::of(&shown))
}

/// A credential in the form that the caller wants, else in that in which it was signed.
pub(super) async fn credential(context: &Context, issued: &Issued) -> Result<Answer> {
    if wants_jws(context) || issued.kept.form == CredentialForm::Jws {
        return jwt(context, issued).await;
    }
    Ok(Answer::json(issued.kept.body.clone()))
}

/// A credential as JSON-LD.
pub(super) fn json_ld(issued: &Issued) -> Result<Answer> {
    let body = match issued.kept.form {
        CredentialForm::Json => issued.kept.body.clone(),
        CredentialForm::Jws => Value::Object(issued.object()?).to_string(),
    };
    Ok(Answer::typed(JSON_LD, Body::from(body)))
}

/// A credential as a compact JWS: as it was signed, or signed so now by its issuer here.
/// Errors: `Invalid` for one that was issued elsewhere in another form.
pub(super) async fn jwt(context: &Context, issued: &Issued) -> Result<Answer> {
    if issued.kept.form == CredentialForm::Jws {
        return Ok(super::text(issued.kept.body.clone()));
    }
    let Some(id) = issued.issued_by.clone() else {
        let message = "the credential was issued elsewhere with an embedded proof; only its issuer can \
                       sign it as a JWT";
        return Err(Problem::invalid("format", message));
    };
    let base_url = context.base_url().to_owned();
    let signs = context.app.db.read(move |tx| Issuer::find(tx, &base_url, &id)).await?;
    let with_rsa = is_rsa_wanted(context)?;
    let jwt = as_jwt(&context.app, &signs, issued.object()?.into(), with_rsa).await?;
    Ok(super::text(jwt))
}
