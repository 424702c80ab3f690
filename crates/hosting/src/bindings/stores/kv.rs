//! `env.KV`: requests of the runtime's KV client, and the responses.

mod sql;

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::body::Incoming;
use hyper::header::HeaderName;
use hyper::{Method, Request, StatusCode};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::bindings::answer::Answer;
use crate::bindings::{blocking, whole_body};
use lyceum_core::limits::KV_VALUE_MAX_BYTES;

use crate::limits::{
    KV_BULK_KEYS_MAX_COUNT, KV_CACHE_MIN_S, KV_EXPIRATION_MIN_S, KV_KEY_MAX_BYTES,
    KV_METADATA_MAX_BYTES, KV_PAGE_MAX_KEYS,
};

const EXPIRATION: HeaderName = HeaderName::from_static("cf-expiration");
const METADATA: HeaderName = HeaderName::from_static("cf-kv-metadata");

pub(crate) use sql::{Kv, KvEntry};

type KvResult = Result<Answer, Answer>;

/// `GET`, `PUT` and `DELETE /<key>`, `GET /` for a list, `POST /bulk/get` for many values.
pub(super) async fn answer(kv: &Arc<Kv>, request: Request<Incoming>) -> Answer {
    let kv = Arc::clone(kv);
    let path = request.uri().path().strip_prefix('/').unwrap_or_default().to_owned();
    let question = KvParameters::of(request.uri().query().unwrap_or_default());
    let answered = match (request.method(), path.as_str()) {
        (&Method::GET, "") => blocking(move || list(&kv, &question)).await,
        (&Method::GET, _) => blocking(move || get(&kv, &path, &question)).await,
        (&Method::PUT, _) => put(kv, &path, &question, request).await.map(Ok),
        (&Method::DELETE, _) => blocking(move || delete(&kv, &path, &question)).await,
        (&Method::POST, "bulk/get") => get_many(kv, request).await.map(Ok),
        _ => Err(refused("not a request of KV")),
    };
    answered.and_then(|answered| answered).unwrap_or_else(|refusal| refusal)
}

/// The parameters of a request.
struct KvParameters(Vec<(String, String)>);

impl KvParameters {
    fn of(query: &str) -> Self {
        Self(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The whole number at the beginning of a value.
    fn number(&self, name: &str) -> Option<(i64, &str)> {
        let text = self.text(name)?;
        Some((text.split('.').next()?.parse().unwrap_or(-1), text))
    }

    fn key(&self, path: &str) -> Result<String, Answer> {
        let is_encoded =
            self.text("urlencoded").is_some_and(|text| text.eq_ignore_ascii_case("true"));
        let decoded = percent_decode_str(path).decode_utf8();
        let key = match decoded {
            Ok(decoded) if is_encoded => decoded.into_owned(),
            Ok(_) => path.to_owned(),
            Err(_) => return Err(refused("Could not URL-decode key name")),
        };
        check_key(&key)?;
        Ok(key)
    }
}

fn check_key(key: &str) -> Result<(), Answer> {
    match key {
        "" => return Err(refused("Key names must not be empty")),
        "." | ".." => {
            let message = format!("Illegal key name \"{key}\". Please use a different name.");
            return Err(refused(&message));
        }
        _ => {}
    }
    check_length(key)
}

fn check_length(key: &str) -> Result<(), Answer> {
    if key.len() <= KV_KEY_MAX_BYTES {
        return Ok(());
    }
    let message = format!(
        "UTF-8 encoded length of {} exceeds key length limit of {KV_KEY_MAX_BYTES}.",
        key.len()
    );
    Err(Answer::refusal(StatusCode::URI_TOO_LONG, &message))
}

fn get(kv: &Kv, path: &str, question: &KvParameters) -> KvResult {
    let key = question.key(path)?;
    if let Some((ttl, text)) = question.number("cache_ttl")
        && ttl < KV_CACHE_MIN_S
    {
        let message =
            format!("Invalid cache_ttl of {text}. Cache TTL must be at least {KV_CACHE_MIN_S}.");
        return Err(refused(&message));
    }
    let Some(entry) = kv.get(&key).map_err(|problem| failed(&problem))? else {
        return Err(Answer::refusal(StatusCode::NOT_FOUND, "Not Found"));
    };
    let mut answer = Answer::bytes(entry.value.into());
    if let Some(expires) = entry.expires {
        answer = answer.with(EXPIRATION, &expires.to_string());
    }
    if let Some(metadata) = entry.metadata {
        answer = answer.with(METADATA, &metadata);
    }
    Ok(answer)
}

async fn put(
    kv: Arc<Kv>,
    path: &str,
    question: &KvParameters,
    request: Request<Incoming>,
) -> KvResult {
    let metadata = request.headers().get(METADATA);
    let metadata = metadata.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    // Read before any refusal: a client that is still sending may lose the response with the connection.
    let value = whole_body(request, KV_VALUE_MAX_BYTES).await?;
    let key = question.key(path)?;
    let expires = expires(question, kv.now())?;
    if let Some(metadata) = &metadata {
        if metadata.len() > KV_METADATA_MAX_BYTES {
            let message = format!(
                "Metadata length of {} exceeds limit of {KV_METADATA_MAX_BYTES}.",
                metadata.len()
            );
            return Err(Answer::refusal(StatusCode::PAYLOAD_TOO_LARGE, &message));
        }
        if serde_json::from_str::<Json>(metadata).is_err() {
            return Err(refused("Metadata must be valid JSON"));
        }
    }
    let entry = KvEntry { value: value.into(), metadata, expires };
    blocking(move || kv.put(&key, &entry)).await?.map_err(|problem| failed(&problem))?;
    Ok(Answer::empty())
}

/// When the entry expires, in seconds since 1970.
fn expires(question: &KvParameters, now: i64) -> Result<Option<i64>, Answer> {
    if let Some((ttl, text)) = question.number("expiration_ttl") {
        let hint = match ttl {
            ..=0 => "Please specify integer greater than 0.".to_owned(),
            ttl if ttl < KV_EXPIRATION_MIN_S => {
                format!("Expiration TTL must be at least {KV_EXPIRATION_MIN_S}.")
            }
            _ => return Ok(Some(now.saturating_add(ttl))),
        };
        return Err(refused(&format!("Invalid expiration_ttl of {text}. {hint}")));
    }
    let Some((expires, text)) = question.number("expiration") else { return Ok(None) };
    let hint = if expires <= now {
        "Please specify integer greater than the current number of seconds since the UNIX epoch."
            .to_owned()
    } else if expires < now + KV_EXPIRATION_MIN_S {
        format!("Expiration times must be at least {KV_EXPIRATION_MIN_S} seconds in the future.")
    } else {
        return Ok(Some(expires));
    };
    Err(refused(&format!("Invalid expiration of {text}. {hint}")))
}

fn delete(kv: &Kv, path: &str, question: &KvParameters) -> KvResult {
    kv.delete(&[question.key(path)?]).map_err(|problem| failed(&problem))?;
    Ok(Answer::empty())
}

fn list(kv: &Kv, question: &KvParameters) -> KvResult {
    let limit = match question.number("key_count_limit") {
        None => KV_PAGE_MAX_KEYS,
        Some((limit, text)) => usize::try_from(limit)
            .ok()
            .filter(|limit| (1..=KV_PAGE_MAX_KEYS).contains(limit))
            .ok_or_else(|| {
                let bound = match limit {
                    ..1 => "greater than 0".to_owned(),
                    _ => format!("less than {KV_PAGE_MAX_KEYS}"),
                };
                let message = format!(
                    "Invalid key_count_limit of {text}. Please specify an integer {bound}."
                );
                refused(&message)
            })?,
    };
    let prefix = question.text("prefix").unwrap_or_default();
    check_length(prefix)?;
    let cursor = question.text("cursor").unwrap_or_default();
    let after = BASE64_STANDARD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let after =
        after.ok_or_else(|| refused("the cursor is invalid; use one that a list returned"))?;
    let page = kv.list(prefix, &after, limit).map_err(|problem| failed(&problem))?;
    let keys = page.keys.iter().map(|(name, metadata, expires)| {
        let mut key = Map::new();
        key.insert("name".into(), name.as_str().into());
        if let Some(expires) = expires {
            key.insert("expiration".into(), (*expires).into());
        }
        if let Some(metadata) = metadata {
            key.insert("metadata".into(), metadata.as_str().into());
        }
        Json::Object(key)
    });
    let mut answer = json!({ "keys": keys.collect::<Vec<_>>(), "list_complete": !page.has_more, "cacheStatus": null });
    if let Some((last, ..)) = page.keys.last().filter(|_| page.has_more) {
        answer["cursor"] = BASE64_STANDARD.encode(last).into();
    }
    Ok(Answer::json(&answer))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyBatch {
    keys: Vec<String>,
    r#type: Option<String>,
    #[serde(default)]
    with_metadata: bool,
}

/// Maximum bytes of a request for many values: keys and JSON syntax.
const MANY_BYTES: usize = KV_BULK_KEYS_MAX_COUNT * KV_KEY_MAX_BYTES * 6;

async fn get_many(kv: Arc<Kv>, request: Request<Incoming>) -> KvResult {
    let body = whole_body(request, MANY_BYTES).await?;
    let asked: KeyBatch =
        serde_json::from_slice(&body).map_err(|fault| refused(&fault.to_string()))?;
    let is_json = match asked.r#type.as_deref() {
        None | Some("text") => false,
        Some("json") => true,
        Some(other) => {
            let message = format!("\"{other}\" is not a valid type. Use \"json\" or \"text\"");
            return Err(refused(&message));
        }
    };
    match asked.keys.len() {
        0 => return Err(refused("You must request a minimum of 1 key")),
        count if count > KV_BULK_KEYS_MAX_COUNT => {
            let message = format!("You can request a maximum of {KV_BULK_KEYS_MAX_COUNT} keys");
            return Err(refused(&message));
        }
        _ => {}
    }
    blocking(move || values(&kv, &asked, is_json)).await?
}

fn values(kv: &Kv, asked: &KeyBatch, is_json: bool) -> KvResult {
    let mut values = Map::new();
    let mut bytes = 0;
    for key in &asked.keys {
        check_key(key)?;
        let entry = kv.get(key).map_err(|problem| failed(&problem))?;
        let value = match &entry {
            None => Json::Null,
            Some(entry) if is_json => serde_json::from_slice(&entry.value).map_err(|_| {
                refused("At least one of the requested keys corresponds to a non-json value")
            })?,
            Some(entry) => String::from_utf8_lossy(&entry.value).into(),
        };
        bytes += entry.as_ref().map_or(0, |entry| entry.value.len());
        if bytes > KV_VALUE_MAX_BYTES {
            let most = KV_VALUE_MAX_BYTES / 1024 / 1024;
            let message = format!("Total size of request exceeds the limit of {most}MB");
            return Err(Answer::refusal(StatusCode::PAYLOAD_TOO_LARGE, &message));
        }
        let metadata = entry.and_then(|entry| serde_json::from_str::<Json>(&entry.metadata?).ok());
        let value = match value {
            value if asked.with_metadata && !value.is_null() => {
                json!({ "value": value, "metadata": metadata })
            }
            value => value,
        };
        values.insert(key.clone(), value);
    }
    Ok(Answer::json(&values))
}

fn refused(message: &str) -> Answer {
    Answer::refusal(StatusCode::BAD_REQUEST, message)
}

fn failed(problem: &lyceum_core::Problem) -> Answer {
    tracing::error!("KV failed: {problem}");
    Answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, "KV failed; try again")
}
