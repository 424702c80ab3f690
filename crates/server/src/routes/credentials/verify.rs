//! Verifying a credential: what is needed from elsewhere is read first, what is this server's own without
//! any network, the rest by the one guarded client.

use std::collections::BTreeMap;

use bytes::Bytes;
use lyceum_access::Scope::{CredentialsRead, ObCredentialReadonly};
use lyceum_core::json::refuse_repeated_keys;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_credentials::verify::{self, Check, CheckOutcome, Report};
use serde_json::{Value, json};

use super::{issuers, schema};
use crate::answer::Answer;
use crate::apart::apart;
use crate::context::Context;
use crate::multipart;
use crate::route::{Route, post};
use crate::state::App;

/// What can be verified.
const MEDIA: &[&str] = &[
    "application/json",
    "application/vc+ld+json",
    "application/ld+json",
    "text/plain",
    "image/png",
    "image/svg+xml",
    "application/octet-stream",
    "multipart/form-data",
];

pub(super) fn routes() -> Vec<Route> {
    vec![
        post("/verify", [ObCredentialReadonly, CredentialsRead], verified)
            .named("verifyCredential")
            .says("Verifies a credential of any issuer: JSON, a compact JWS, or a badge image with one in it.")
            .reads_as(MEDIA)
            .reads_schema(json!({}))
            .reads_up_to(limits::CREDENTIAL_MAX_BYTES)
            .answers_schema(200, "The credential and what came of each check.", schema::verified()),
    ]
}

async fn verified(context: Context) -> Result<Answer> {
    let input = sent(&context).await?;
    if input.is_empty() {
        let message = "send a credential: JSON, a compact JWS, or a PNG or SVG with one in it";
        return Err(Problem::new(ProblemKind::Malformed, message));
    }
    let verified = report(&context.app, input).await?;
    let credential = verified.credential();
    Ok(Answer::of(&json!({ "credential": credential, "verification": verified.shown() })))
}

/// The credential that was sent: the body, or the first file of a form.
async fn sent(context: &Context) -> Result<Bytes> {
    let media = context.header(axum::http::header::CONTENT_TYPE).unwrap_or_default();
    if !media.starts_with("multipart/form-data") {
        return Ok(context.body.clone());
    }
    let parts = multipart::parts(media, &context.body).await.unwrap_or_default();
    parts.into_iter().next().map(|part| part.body).ok_or_else(|| {
        let message = "the form holds no file; send the credential as its first part";
        Problem::new(ProblemKind::Malformed, message)
    })
}

/// What came of verifying a credential.
pub(in crate::routes) struct Verified {
    pub(super) report: Report,
    /// Why documents from elsewhere were not read.
    unread: Vec<String>,
}

/// A check as it is shown.
#[derive(serde::Serialize)]
pub(in crate::routes) struct Shown {
    pub(in crate::routes) name: &'static str,
    pub(in crate::routes) outcome: &'static str,
    pub(in crate::routes) message: String,
}

/// Verifies a credential, with what it needs from elsewhere.
pub(in crate::routes) async fn report(app: &App, input: Bytes) -> Result<Verified> {
    verify_with(app, input, app.config.verify.fetch).await
}

/// Verifies a credential without asking anybody: a page that everybody may open again and again makes no
/// connections.
pub(super) async fn without_network(app: &App, input: Bytes) -> Result<Verified> {
    verify_with(app, input, false).await
}

async fn verify_with(app: &App, input: Bytes, may_fetch: bool) -> Result<Verified> {
    let mut fetched = BTreeMap::new();
    let mut unread = Vec::new();
    // What was read may need more: a status list has an issuer, too.
    loop {
        let (asked, seen) = (input.clone(), fetched);
        let (wanted, seen) = apart(move || Ok((verify::wanted(&asked, &seen), seen))).await?;
        fetched = seen;
        if wanted.is_empty() {
            break;
        }
        for address in wanted {
            let found = match issuers::own(app, &address).await {
                Some(own) => own.map(|own| own.to_vec()).map_err(|problem| problem.message),
                None if !may_fetch => {
                    Err(format!("'{address}' is not asked for; nothing is read here"))
                }
                None if fetched.len() >= limits::VERIFY_FETCH_MAX_COUNT => Err(format!(
                    "'{address}' is not asked for: at most {} addresses are",
                    limits::VERIFY_FETCH_MAX_COUNT
                )),
                None => app.guarded.get(&address).await,
            };
            let document = found.and_then(|bytes| {
                document(&bytes).ok_or_else(|| format!("'{address}' is neither JSON nor a JWT"))
            });
            fetched.insert(
                address,
                document.unwrap_or_else(|told| {
                    unread.push(told);
                    Value::Null
                }),
            );
        }
    }
    let now = app.clock.now();
    let report = apart(move || Ok(verify::verify(&input, &fetched, now))).await?;
    Ok(Verified { report, unread })
}

/// A document from elsewhere: JSON, or a compact JWS as a text.
fn document(bytes: &[u8]) -> Option<Value> {
    if let Ok(document) = serde_json::from_slice(bytes) {
        return refuse_repeated_keys(bytes).ok().map(|()| document);
    }
    let text = std::str::from_utf8(bytes).ok()?.trim();
    (text.matches('.').count() == 2).then(|| text.into())
}

impl Verified {
    /// The credential that was verified; null where there is none to be read.
    pub(in crate::routes) fn credential(&self) -> &Value {
        &self.report.credential
    }

    /// Whether the credential is genuine and in force, as far as anybody could find out: no check failed,
    /// and who signed it and whether it is revoked is known.
    pub(in crate::routes) fn is_verified(&self) -> bool {
        let checks = &self.report.checks;
        let known = |check: &&Check| matches!(check.name, "issuer" | "status");
        self.report.is_valid()
            && checks
                .iter()
                .any(|check| check.name == "proof" && check.outcome == CheckOutcome::Passed)
            && checks.iter().filter(known).all(|check| check.outcome == CheckOutcome::Passed)
    }

    /// Why it is refused; none where no check failed.
    pub(in crate::routes) fn refusal(&self) -> Option<String> {
        let mut checks = self.report.checks.iter();
        let failed = checks.find(|check| check.outcome == CheckOutcome::Failed);
        failed.map(|check| format!("{}: {}", check.name, check.message))
    }

    /// Each check, and what could not be read for them.
    pub(in crate::routes) fn checks(&self) -> Vec<Shown> {
        let made = self.report.checks.iter().map(|check| Shown {
            name: check.name,
            outcome: match check.outcome {
                CheckOutcome::Passed => "passed",
                CheckOutcome::Failed => "failed",
                CheckOutcome::Skipped => "skipped",
            },
            message: check.message.clone(),
        });
        let unread = self.unread.iter().map(|told| Shown {
            name: "fetch",
            outcome: "skipped",
            message: told.clone(),
        });
        made.chain(unread).collect()
    }

    /// The report as JSON.
    pub(in crate::routes) fn shown(&self) -> Value {
        json!({ "verified": self.is_verified(), "checks": self.checks() })
    }
}
