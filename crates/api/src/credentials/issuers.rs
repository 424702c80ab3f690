//! Public documents of issuers: DID documents, keys, status lists, revocation lists.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::header;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_credentials::did::DidDocument;
use lyceum_credentials::documents::Credential;
use lyceum_credentials::issuer::{Issuer, SERVER, Signer};
use lyceum_credentials::keys::{self, IssuerKeys};
use lyceum_credentials::limits::STATUS_LIST_MAX_AGE_S;
use lyceum_credentials::status;
use lyceum_credentials::status_list::RevocationList;
use lyceum_http::answer::Answer;
use lyceum_http::route::{Access, get};
use lyceum_store::run_blocking;
use serde::Serialize;

use crate::{App, Context, Route, limits};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/.well-known/did.json", Access::Public, |context| document(context, Some(SERVER)))
            .named("getDidDocument")
            .description("Reads the DID document of the server's issuer: all keys with which it signs or has signed.")
            .answers::<DidDocument>(200, "The document."),
        get("/issuers/{issuer}/did.json", Access::Public, |context| document(context, None))
            .named("getIssuerDidDocument")
            .description("Reads the DID document of an issuer: all keys with which it signs or has signed.")
            .answers::<DidDocument>(200, "The document."),
        get("/issuers/{issuer}/keys", Access::Public, listed_keys)
            .named("getIssuerKeys")
            .description("Lists the public keys of an issuer, each with its did:key and as a JWK.")
            .answers::<IssuerKeys>(200, "The keys."),
        get("/issuers/{issuer}/status/{list}", Access::Public, status_list)
            .named("getStatusList")
            .description("Reads a signed Bitstring Status List of an issuer, which shows its revoked credentials.")
            .answers::<Credential>(200, "The list."),
        get("/issuers/{issuer}/revocations", Access::Public, revocations)
            .named("getRevocationList")
            .description("Reads the 1EdTech revocation list of an issuer: its revoked credentials, with reasons.")
            .answers::<RevocationList>(200, "The list."),
    ]
}

/// Recently signed lists, by issuer and number.
#[derive(Default)]
pub struct StatusLists(Mutex<BTreeMap<(String, i64), SignedList>>);

struct SignedList {
    revoked: usize,
    at: Timestamp,
    text: Bytes,
}

impl StatusLists {
    fn cached(&self, key: &(String, i64), revoked: usize, now: Timestamp) -> Option<Bytes> {
        let lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let list = lists.get(key).filter(|list| list.revoked == revoked)?;
        let until = list.at.plus_seconds(limits::STATUS_LIST_SIGNED_S);
        (now < until).then(|| list.text.clone())
    }

    fn remember(&self, key: (String, i64), list: SignedList) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, list);
    }
}

/// Lets caches store the answer for a while, and pages of all sites read it, because verifiers also run in browsers.
fn public(answer: Answer) -> Answer {
    let max_age = format!("public, max-age={STATUS_LIST_MAX_AGE_S}");
    answer.header(header::CACHE_CONTROL, max_age).header(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")
}

async fn document(context: Context, issuer: Option<&'static str>) -> Result<Answer> {
    let id = issuer.map_or_else(|| context.param("issuer").to_owned(), str::to_owned);
    did_document(&context.app, id).await.map(|document| public(Answer::of(&document)))
}

/// The document of an issuer's did:web. Errors: `NotFound`.
pub(super) async fn did_document(app: &App, id: String) -> Result<DidDocument> {
    let base_url = app.base_url.clone();
    app.db.read(move |tx| Issuer::find(tx, &base_url, &id)?.document(tx)).await
}

async fn listed_keys(context: Context) -> Result<Answer> {
    let (id, base_url) = (context.param("issuer").to_owned(), context.base_url().to_owned());
    let keys = context.app.db.read(move |tx| {
        let issuer = Issuer::find(tx, &base_url, &id)?;
        keys::of_issuer(tx, &issuer)
    });
    Ok(public(Answer::of(&keys.await?)))
}

async fn status_list(context: Context) -> Result<Answer> {
    let list = context.param("list").parse().map_err(|_| {
        Problem::new(ProblemKind::NotFound, "Unknown Object: status lists have numbers from 1")
    })?;
    let issuer = context.param("issuer").to_owned();
    signed_list(&context.app, issuer, list).await.map(|text| public(Answer::json(text)))
}

/// A signed list. It is signed again after a credential was revoked, or if the signature is some hours old.
/// Errors: `NotFound`.
pub(super) async fn signed_list(app: &App, issuer: String, list: i64) -> Result<Bytes> {
    let now = app.clock.now();
    let key = (issuer, list);
    let id = key.0.clone();
    let revoked = app.db.read(move |tx| status::revoked_count(tx, &id, list)).await?;
    if let Some(text) = app.status_lists.cached(&key, revoked, now) {
        return Ok(text);
    }
    let (id, base_url, master) = (key.0.clone(), app.base_url.clone(), app.gate.keyring());
    let (signer, credential, revoked) = app
        .db
        .read(move |tx| {
            let issuer = Issuer::find(tx, &base_url, &id)?;
            let credential = status::unsigned(tx, now, &base_url, &issuer, list)?;
            let revoked = status::revoked_count(tx, &id, list)?;
            Ok((Signer::of(tx, master.master(), issuer)?, credential, revoked))
        })
        .await?;
    let list = run_blocking(move || signer.sign(credential, now)).await?;
    let text = Bytes::from(list.to_string());
    app.status_lists.remember(key, SignedList { revoked, at: now, text: text.clone() });
    Ok(text)
}

async fn revocations(context: Context) -> Result<Answer> {
    let id = context.param("issuer").to_owned();
    revocation_list(&context.app, id).await.map(|list| public(Answer::of(&list)))
}

/// The revocation list of an issuer. Errors: `NotFound`.
pub(super) async fn revocation_list(app: &App, id: String) -> Result<RevocationList> {
    let base_url = app.base_url.clone();
    app.db
        .read(move |tx| {
            let issuer = Issuer::find(tx, &base_url, &id)?;
            status::revocations(tx, &base_url, &issuer)
        })
        .await
}

/// The document at an address of this server; `None` for other addresses.
pub(super) async fn own_document(app: &App, address: &str) -> Option<Result<Bytes>> {
    let (_, here) = app.base_url.split_once("://")?;
    let (_, there) = address.split_once("://")?;
    let path = there.strip_prefix(here)?;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    Some(match segments.as_slice() {
        [".well-known", "did.json"] => as_json(did_document(app, SERVER.to_owned()).await),
        ["issuers", issuer, "did.json"] => as_json(did_document(app, (*issuer).to_owned()).await),
        ["issuers", issuer, "status", list] => {
            signed_list(app, (*issuer).to_owned(), list.parse().ok()?).await
        }
        ["issuers", issuer, "revocations"] => {
            as_json(revocation_list(app, (*issuer).to_owned()).await)
        }
        _ => return None,
    })
}

fn as_json(document: Result<impl Serialize>) -> Result<Bytes> {
    let text = serde_json::to_vec(&document?).map_err(Problem::internal)?;
    Ok(text.into())
}
