//! Verifies a credential. The documents that the checks need are read first: those of this server without the network, the
//! others with the guarded client.

use std::collections::BTreeMap;

use bytes::Bytes;
use lyceum_access::Scope::{CredentialsRead, ObCredentialReadonly};
use lyceum_core::json::refuse_repeated_keys;
use lyceum_core::{Message, Problem, ProblemKind, Result, message};
use lyceum_credentials::limits::CREDENTIAL_MAX_BYTES;
use lyceum_credentials::verify::{self, Check, Report, VerifiedCredential};
use lyceum_http::answer::Answer;
use lyceum_http::multipart;
use lyceum_http::route::post;
use lyceum_store::run_blocking;
use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::issuers;
use crate::{App, Context, Route, limits};

/// The media types that can contain a credential.
const MEDIA: &[&str] = &[
    "application/json",
    "application/vc+ld+json",
    "application/ld+json",
    "text/plain",
    "application/vc+jwt",
    "image/png",
    "image/svg+xml",
    "application/octet-stream",
    "multipart/form-data",
];

/// A credential of any issuer.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the checks read the bytes themselves")]
enum CredentialFile {
    /// A credential with an embedded proof.
    Json(Map<String, Value>),
    /// A compact JWS, or an image that contains a credential.
    Bytes(String),
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/verify", [ObCredentialReadonly, CredentialsRead], verified)
            .of_no_organization()
            .named("verifyCredential")
            .description("Verifies a credential of any issuer: JSON, a compact JWS, or a badge image that contains a credential.")
            .reads_as(MEDIA)
            .reads::<CredentialFile>()
            .reads_up_to(CREDENTIAL_MAX_BYTES)
            .answers::<VerifiedCredential>(200, "The credential and the result of each check."),
    ]
}

async fn verified(context: Context) -> Result<Answer> {
    let input = sent(&context).await?;
    if input.is_empty() {
        let message =
            "send a credential: JSON, a compact JWS, or a PNG or SVG that contains a credential";
        return Err(Problem::new(ProblemKind::Malformed, message));
    }
    Ok(Answer::of(&VerifiedCredential::from(report(&context.app, input).await?)))
}

/// The credential that was sent: the body, or the first file of a form.
async fn sent(context: &Context) -> Result<Bytes> {
    let media = context.header(http::header::CONTENT_TYPE).unwrap_or_default();
    if !media.starts_with("multipart/form-data") {
        return Ok(context.body.clone());
    }
    let parts = multipart::parts(media, &context.body).await.unwrap_or_default();
    parts.into_iter().next().map(|part| part.body).ok_or_else(|| {
        let message = "the form has no file; send the credential as its first part";
        Problem::new(ProblemKind::Malformed, message)
    })
}

/// Verifies a credential. Documents that cannot be read are skipped checks named `fetch`.
pub async fn report(app: &App, input: Bytes) -> Result<Report> {
    verify_with(app, input, app.config.verify.fetch).await
}

/// Verifies a credential without the network, because anybody can open a public page again and again.
pub async fn report_without_network(app: &App, input: Bytes) -> Result<Report> {
    verify_with(app, input, false).await
}

async fn verify_with(app: &App, input: Bytes, may_fetch: bool) -> Result<Report> {
    let mut fetched = BTreeMap::new();
    let mut unread = Vec::new();
    // A fetched document may need further ones: a status list also has an issuer.
    loop {
        let (checked, known) = (input.clone(), fetched);
        let (missing, known) =
            run_blocking(move || Ok((verify::missing_documents(&checked, &known), known))).await?;
        fetched = known;
        if missing.is_empty() {
            break;
        }
        for address in missing {
            let document = match fetch(app, &address, may_fetch, fetched.len()).await {
                Ok(document) => document,
                Err(reason) => {
                    unread.push(Check::skipped("fetch", reason));
                    Value::Null
                }
            };
            fetched.insert(address, document);
        }
    }
    let now = app.clock.now();
    let mut report = run_blocking(move || Ok(verify::verify(&input, &fetched, now))).await?;
    report.checks.extend(unread);
    Ok(report)
}

/// Reads a document. Errors: the reason why it cannot be read.
async fn fetch(
    app: &App,
    address: &str,
    may_fetch: bool,
    fetched_count: usize,
) -> Result<Value, Message> {
    let bytes = match issuers::own_document(app, address).await {
        Some(own) => own.map(|own| own.to_vec()).map_err(|problem| problem.message)?,
        None if !may_fetch => {
            return Err(message!(
                "'{address}' is not read, because this verification makes no connections"
            ));
        }
        None if fetched_count >= limits::VERIFY_FETCH_MAX_COUNT => {
            let most = limits::VERIFY_FETCH_MAX_COUNT;
            return Err(message!("'{address}' is not read; the limit is {most} addresses"));
        }
        None => app.guarded.get(address).await?,
    };
    document(&bytes).ok_or_else(|| message!("'{address}' is neither JSON nor a JWT"))
}

/// A fetched document: JSON, or a compact JWS as a text.
fn document(bytes: &[u8]) -> Option<Value> {
    if let Ok(document) = serde_json::from_slice(bytes) {
        return refuse_repeated_keys(bytes).ok().map(|()| document);
    }
    let text = std::str::from_utf8(bytes).ok()?.trim();
    (text.matches('.').count() == 2).then(|| text.into())
}
