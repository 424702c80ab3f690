//! What everybody may see of issuers: key documents, keys, status lists, revocations.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use axum::http::header;
use bytes::Bytes;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_credentials::issuer::{Issuer, SERVER, Signer};
use lyceum_credentials::{did, key, keys, status};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::apart::apart;
use crate::context::Context;
use crate::route::{Access, Route, get};
use crate::state::App;

pub(super) fn routes() -> Vec<Route> {
    let object = || json!({ "type": "object" });
    vec![
        get("/.well-known/did.json", Access::Public, |context| document(context, Some(SERVER)))
            .named("getDidDocument")
            .says("The keys that the server's issuer signs and has signed with: the document of its did:web.")
            .answers_schema(200, "The document.", object()),
        get("/issuers/{issuer}/did.json", Access::Public, |context| document(context, None))
            .named("getIssuerDidDocument")
            .says("The keys of an issuer: the document of its did:web.")
            .answers_schema(200, "The document.", object()),
        get("/issuers/{issuer}/keys", Access::Public, listed_keys)
            .named("getIssuerKeys")
            .says("The public keys of an issuer, each with its did:key and as a JWK.")
            .answers_schema(200, "The keys.", super::schema::list_of("keys", object().into())),
        get("/issuers/{issuer}/status/{list}", Access::Public, status_list)
            .named("getStatusList")
            .says("A Bitstring Status List of an issuer, signed: which of its credentials are revoked.")
            .answers_schema(200, "The list.", super::schema::credential()),
        get("/issuers/{issuer}/revocations", Access::Public, revocations)
            .named("getRevocationList")
            .says("The 1EdTech revocation list of an issuer: its revoked credentials, with reasons.")
            .answers_schema(200, "The list.", object()),
    ]
}

/// Lists that were signed lately, by issuer and number.
#[derive(Default)]
pub(crate) struct StatusLists(Mutex<BTreeMap<(String, i64), SignedList>>);

struct SignedList {
    revoked: usize,
    at: Timestamp,
    text: Bytes,
}

impl StatusLists {
    fn known(&self, key: &(String, i64), revoked: usize, now: Timestamp) -> Option<Bytes> {
        let lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let list = lists.get(key).filter(|list| list.revoked == revoked)?;
        let until = list.at.plus_seconds(limits::STATUS_LIST_SIGNED_S);
        (now < until).then(|| list.text.clone())
    }

    fn remember(&self, key: (String, i64), list: SignedList) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, list);
    }
}

/// Documents about keys and revocations may be kept this long by everyone, and read by any page: verifiers
/// run in browsers, too.
fn kept_a_while(answer: Answer) -> Answer {
    let kept = format!("public, max-age={}", limits::STATUS_LIST_MAX_AGE_S);
    answer.header(header::CACHE_CONTROL, kept).header(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")
}

async fn document(context: Context, issuer: Option<&'static str>) -> Result<Answer> {
    let id = issuer.map_or_else(|| context.param("issuer").to_owned(), str::to_owned);
    did_document(&context.app, id).await.map(|document| kept_a_while(Answer::of(&document)))
}

/// The document of an issuer's did:web. Errors: `NotFound`.
pub(super) async fn did_document(app: &App, id: String) -> Result<Value> {
    let base_url = app.base_url.clone();
    app.db.read(move |tx| Issuer::find(tx, &base_url, &id)?.document(tx)).await
}

async fn listed_keys(context: Context) -> Result<Answer> {
    let (id, base_url) = (context.param("issuer").to_owned(), context.base_url().to_owned());
    let keys = context.app.db.read(move |tx| {
        let issuer = Issuer::find(tx, &base_url, &id)?;
        let keys = keys::published(tx, Some(&issuer.id))?;
        Ok(keys.iter().map(|key| shown(&issuer, key)).collect::<Vec<_>>())
    });
    Ok(kept_a_while(Answer::of(&json!({ "keys": keys.await? }))))
}

fn shown(issuer: &Issuer, published: &keys::Published) -> Value {
    let mut shown = json!({
        "kid": published.kid,
        "algorithm": published.algorithm,
        "verificationMethod": issuer.method(&published.kid),
        "created": published.created,
        "retired": published.retired,
        "publicKeyJwk": published.key.to_jwk(),
    });
    if let key::PublicKey::Ed25519(key) = &published.key {
        shown["didKey"] = did::key_of(key).into();
        shown["publicKeyMultibase"] = key::multikey(key).into();
    }
    shown
}

async fn status_list(context: Context) -> Result<Answer> {
    let list = context.param("list").parse().map_err(|_| {
        Problem::new(ProblemKind::NotFound, "Unknown Object: status lists have numbers from 1")
    })?;
    let issuer = context.param("issuer").to_owned();
    signed_list(&context.app, issuer, list).await.map(|text| kept_a_while(Answer::json(text)))
}

/// A signed list; made anew when a credential was revoked or the signature is some hours old.
/// Errors: `NotFound`.
pub(super) async fn signed_list(app: &App, issuer: String, list: i64) -> Result<Bytes> {
    let now = app.clock.now();
    let key = (issuer, list);
    let id = key.0.clone();
    let revoked = app.db.read(move |tx| status::revoked_count(tx, &id, list)).await?;
    if let Some(text) = app.status_lists.known(&key, revoked, now) {
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
    let list = apart(move || signer.sign(credential, now)).await?;
    let text = Bytes::from(list.to_string());
    app.status_lists.remember(key, SignedList { revoked, at: now, text: text.clone() });
    Ok(text)
}

async fn revocations(context: Context) -> Result<Answer> {
    let id = context.param("issuer").to_owned();
    revocation_list(&context.app, id).await.map(|list| kept_a_while(Answer::of(&list)))
}

/// The revocation list of an issuer. Errors: `NotFound`.
pub(super) async fn revocation_list(app: &App, id: String) -> Result<Value> {
    let base_url = app.base_url.clone();
    app.db
        .read(move |tx| {
            let issuer = Issuer::find(tx, &base_url, &id)?;
            status::revocations(tx, &base_url, &issuer)
        })
        .await
}

/// What an address of this server's own means to a verifier; none where it is none of these.
pub(super) async fn own(app: &App, address: &str) -> Option<Result<Bytes>> {
    let (_, here) = app.base_url.split_once("://")?;
    let (_, there) = address.split_once("://")?;
    let path = there.strip_prefix(here)?;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
    let document = |value: Result<Value>| value.map(|value| Bytes::from(value.to_string()));
    Some(match segments.as_slice() {
        [".well-known", "did.json"] => document(did_document(app, SERVER.to_owned()).await),
        ["issuers", issuer, "did.json"] => document(did_document(app, (*issuer).to_owned()).await),
        ["issuers", issuer, "status", list] => {
            signed_list(app, (*issuer).to_owned(), list.parse().ok()?).await
        }
        ["issuers", issuer, "revocations"] => {
            document(revocation_list(app, (*issuer).to_owned()).await)
        }
        _ => return None,
    })
}
