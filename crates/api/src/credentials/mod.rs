//! Open Badges 3.0: definitions, awards, credentials of other issuers, profiles; and public documents: keys, status lists,
//! a page for each credential. Each part has a file with its table.

mod badges;
mod discovery;
mod issuers;
mod profile;
mod stored;
mod verify;

use http::{HeaderName, HeaderValue, header};
use lyceum_core::text::whole_number;
use lyceum_core::{Problem, ProblemKind, Result, limits, message};
use lyceum_credentials::issuer::{self, Issuer, Signer};
use lyceum_credentials::{jwt, keys};
use lyceum_http::answer::Answer;
use lyceum_http::paging;
use lyceum_http::render::Rendering;
use lyceum_http::route::AnswerHeader;
use lyceum_store::run_blocking;
use serde_json::Value;

use crate::{App, Area, Context};

pub use badges::issue;
pub(super) use discovery::description;
pub use issuers::StatusLists;
pub(super) use profile::{Standard, routes as profile_routes};
pub(super) use stored::{check_own, list_parameters, own_issuer, since};
pub use stored::{credential, json_ld, jwt};
pub use verify::{report, report_without_network};

/// The media types of credentials: JSON, or a compact JWS as text.
pub(super) const MEDIA: &[&str] = &[
    "application/json",
    "application/vc+ld+json",
    "application/ld+json",
    "text/plain",
    "application/vc+jwt",
];
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const VC_JWT: HeaderValue = HeaderValue::from_static("application/vc+jwt");

/// The headers of a page of a list.
pub(super) const PAGED: &[AnswerHeader] = &[
    AnswerHeader {
        name: "X-Total-Count",
        ty: "integer",
        description: "Records in the whole list.",
    },
    AnswerHeader {
        name: "Link",
        ty: "string",
        description: "Addresses of the first, previous, next and last page (RFC 8288).",
    },
];

const TOTAL: HeaderName = HeaderName::from_static("x-total-count");

pub(super) fn areas() -> Vec<Area> {
    let mut badges = badges::routes();
    badges.extend(stored::routes());
    badges.extend(profile::routes("Badge", Standard::OpenBadges));
    badges.push(discovery::route());
    let mut public = issuers::routes();
    public.extend(verify::routes());
    vec![
        Area {
            name: "badges",
            base: "/ims/ob/v3p0",
            rendering: Rendering::Credentials,
            description: "Open Badges 3.0: definitions of badges, badges issued to learners, verification.",
            routes: badges,
        },
        Area {
            name: "credentials",
            base: "",
            rendering: Rendering::Problem,
            description: "Public documents for verifying credentials.",
            routes: public,
        },
    ]
}

/// Creates the issuer of the server and its key at the first start.
pub async fn start(app: &App) -> Result<()> {
    let (now, base_url) = (app.clock.now(), app.base_url.clone());
    let master = app.gate.keyring().master().clone();
    app.db.write(move |tx| issuer::start(tx, now, &master, &base_url)).await
}

/// The issuer in whose name the caller signs, with its key.
pub(super) async fn signer(context: &Context) -> Result<Signer> {
    let client = client(context);
    let base_url = context.base_url().to_owned();
    let master = context.app.gate.keyring().master().clone();
    context.app.db.read(move |tx| Signer::of_client(tx, &master, &base_url, &client)).await
}

/// The id of the caller's client; empty on routes without a token.
pub(super) fn client(context: &Context) -> String {
    context.grant.as_ref().map(|grant| grant.client_id().to_owned()).unwrap_or_default()
}

/// Whether the body is a text, and so a compact JWS, and not JSON.
pub(super) fn is_jws(context: &Context) -> bool {
    let media = context.header(header::CONTENT_TYPE).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    ["text/plain", "application/vc+jwt"].iter().any(|jws| media.eq_ignore_ascii_case(jws))
}

/// Whether the caller wants a compact JWS: `?format=jwt`, or `Accept: text/plain` or `application/vc+jwt`.
pub fn wants_jws(context: &Context) -> bool {
    match context.query_value("format").as_deref() {
        Some(format) => matches!(format, "jwt" | "jws"),
        None => context.header(header::ACCEPT).is_some_and(|accept| {
            let is_text = accept.contains("text/plain") || accept.contains("application/vc+jwt");
            is_text && !accept.contains("json")
        }),
    }
}

/// A compact JWS, as the media type for which the caller asks, or as plain text.
pub(super) fn jws(context: &Context, text: String) -> Answer {
    let accept = context.header(header::ACCEPT).unwrap_or_default();
    let media = if accept.contains("application/vc+jwt") { VC_JWT } else { TEXT };
    Answer::typed(media, text.into())
}

/// Whether the caller wants a JWT of `?alg=RS256`, and not of `EdDSA`. Errors: another one.
pub(super) fn wants_rsa(context: &Context) -> Result<bool> {
    match context.query_value("alg").as_deref() {
        None | Some("EdDSA") => Ok(false),
        Some("RS256") => Ok(true),
        Some(other) => Err(Problem::new(
            ProblemKind::BadSelection,
            message!("the parameter 'alg' is '{other}'; it is EdDSA or RS256"),
        )),
    }
}

/// The credential as a compact JWS of an issuer. The RSA key of an issuer is created when it is first needed.
pub(super) async fn as_jwt(
    app: &App,
    issuer: &Issuer,
    mut credential: Value,
    with_rsa: bool,
) -> Result<String> {
    // The signature of the JWS replaces the embedded proof.
    credential.as_object_mut().map(|credential| credential.remove("proof"));
    let master = app.gate.keyring().master().clone();
    if !with_rsa {
        let own = issuer.clone();
        let signer = app.db.read(move |tx| Signer::of(tx, &master, own.clone())).await?;
        return run_blocking(move || {
            let (key, method) = signer.key();
            jwt::sign(&credential, jwt::Key::EdDsa(key), method)
        })
        .await;
    }
    let id = issuer.id.clone();
    for _ in 0..2 {
        let (id, sealed_by) = (id.clone(), master.clone());
        let own = id.clone();
        let known = app.db.read(move |tx| keys::signing_rsa(tx, &sealed_by, &own)).await?;
        if let Some((kid, key)) = known {
            let method = issuer.method(&kid);
            return run_blocking(move || jwt::sign(&credential, jwt::Key::Rs256(&key), &method))
                .await;
        }
        let (new, now, sealed_by) =
            (run_blocking(keys::NewRsa::make).await?, app.clock.now(), master.clone());
        app.db.write(move |tx| keys::add_rsa(tx, now, &sealed_by, &id, &new)).await?;
    }
    Err(Problem::internal("a new RSA key is not in the store"))
}

/// The place of a page in a list.
pub(super) struct Slice {
    pub(super) limit: u64,
    pub(super) offset: u64,
}

/// `limit` and `offset` of a list. Errors: `Invalid` for a value that is not a number.
pub(super) fn slice(context: &Context) -> Result<Slice> {
    let number = |name: &str, usual: u64, least: u64| {
        context.query_value(name).map_or(Ok(usual), |text| whole_number(name, &text, least))
    };
    let limit = number("limit", limits::PAGE_DEFAULT_RECORDS, 1)?;
    Ok(Slice { limit: limit.min(limits::PAGE_MAX_RECORDS), offset: number("offset", 0, 0)? })
}

/// Adds `X-Total-Count`, and `Link` with the other pages: always first and last, and next and prev if they exist (Open
/// Badges 3.0, getCredentials).
pub(super) fn paged(answer: Answer, context: &Context, slice: &Slice, total: u64) -> Answer {
    let Slice { limit, offset } = *slice;
    let count = limit.min(total.saturating_sub(offset));
    let links = paging::links(context, limit, offset, count, total);
    answer.header(TOTAL, total).header(header::LINK, links)
}
