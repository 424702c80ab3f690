//! The public page of a credential, and the credential as a file: JSON, JWT, PNG, SVG. Everyone who knows the random id of
//! the credential has access.

mod markdown;
mod view;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderName, HeaderValue, header};
use lyceum_api::credentials::{json_ld, jwt, report_without_network, wants_jws};
use lyceum_api::{Area, Context};
use lyceum_console::t;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message, phrase};
use lyceum_credentials::body::{self, Object};
use lyceum_credentials::definition::OWN_IMAGES;
use lyceum_credentials::issued::{self, CredentialForm, IssuedCredential};
use lyceum_credentials::verify::{Check, CheckOutcome, Report, valid_until};
use lyceum_credentials::{badge_image, baking, limits};
use lyceum_http::Body;
use lyceum_http::answer::Answer;
use lyceum_http::render::Rendering;
use lyceum_http::route::{Access, get};
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_store::run_blocking;
use serde_json::{Value, json};

use crate::credential::markdown::markdown;
use crate::credential::view::{CredentialCheck, CredentialDate, CredentialPage, Party, STYLE};

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const CSS: HeaderValue = HeaderValue::from_static("text/css; charset=utf-8");
const PNG: HeaderValue = HeaderValue::from_static("image/png");
const SVG: HeaderValue = HeaderValue::from_static("image/svg+xml");

/// Allows only the style and images of this server, so that no content of a credential can run.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

pub(super) fn area() -> Area {
    let text = || json!({ "type": "string" });
    Area {
        name: "credential-pages",
        base: "",
        rendering: Rendering::Problem,
        description: "A page for each credential.",
        routes: vec![
        get("/credentials/page.css", Access::Public, style)
            .named("getCredentialPageStyle")
            .description("The style of the pages of credentials.")
            .answers_as(200, "The style.", Some(("text/css", text()))),
        get("/credentials/{id}", Access::Public, show)
            .named("getCredentialPage")
            .description("Reads a credential by its public id: a page for browsers, otherwise JSON. With .json, .jwt, .png or .svg after the id, that file.")
            .answers_as(200, "The page or the file.", Some(("text/html", text()))),
    ],
    }
}

async fn style(_: Context) -> Result<Answer> {
    Ok(Answer::typed(CSS, Body::from(STYLE))
        .header(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"))
        .header(SNIFF, HeaderValue::from_static("nosniff")))
}

/// The page is in the language that the browser prefers, or that its cookie chooses.
const VARY: HeaderValue =
    HeaderValue::from_static("Accept, Accept-Encoding, Accept-Language, Cookie");

const SNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

async fn show(context: Context) -> Result<Answer> {
    let file = context.param("id").to_owned();
    let (id, kind) = file.rsplit_once('.').unwrap_or((&file, ""));
    let wanted = id.to_owned();
    let issued = context.app.db.read(move |tx| issued::public(tx, &wanted)).await?;
    let is_browser = context
        .header(header::ACCEPT)
        .is_some_and(|accept| accept.split(',').next().is_some_and(|first| first.contains("html")));
    let answer = match kind {
        "" if is_browser => page(&context, &issued).await?,
        "" if wants_jws(&context) => jwt(&context, &issued).await?,
        "" | "json" => json_ld(&issued)?,
        "jwt" | "jws" => jwt(&context, &issued).await?,
        "png" => {
            let baked = run_blocking(move || baked_png(&issued)).await?;
            Answer::typed(PNG, Body::from(baked))
        }
        "svg" => {
            let baked = run_blocking(move || baked_svg(&issued)).await?;
            Answer::typed(SVG, Body::from(baked)).header(header::CONTENT_SECURITY_POLICY, POLICY)
        }
        _ => {
            let message =
                message!("there is no file '{file}'; there are .json, .jwt, .png and .svg");
            return Err(Problem::new(ProblemKind::NotFound, message));
        }
    };
    let max_age = format!("public, max-age={}", limits::STATUS_LIST_MAX_AGE_S);
    Ok(answer
        .header(header::CACHE_CONTROL, max_age)
        .header(header::VARY, VARY)
        .header(SNIFF, HeaderValue::from_static("nosniff")))
}

/// The party that a member of the credential describes; `text` names the member with a text about it.
fn party(value: &Value, text: &str) -> Party {
    let id = value.as_str().or_else(|| value["id"].as_str()).unwrap_or_default().to_owned();
    let is_web = id.starts_with("https://") || id.starts_with("http://");
    Party {
        name: text_of(&value["name"]),
        html: markdown(&text_of(&value[text])),
        link: is_web.then(|| id.clone()),
        id,
    }
}

async fn page(context: &Context, issued: &IssuedCredential) -> Result<Answer> {
    let credential = Value::Object(issued.object()?);
    let report = report_without_network(&context.app, issued.signed.body.clone().into()).await?;
    let learner = learner(context, issued).await?;
    let subject = &credential["credentialSubject"];
    let achievement = &subject["achievement"];
    let name = [&credential["name"], &achievement["name"]].map(text_of);
    let page = CredentialPage {
        id: &issued.id,
        picture: match own_image(&issued.object()?, OWN_IMAGES[0]) {
            Some(_) => "png",
            None => "svg",
        },
        name: name.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| t!("Credential")),
        description: text_of(&achievement["description"]),
        learner,
        narrative: markdown(&text_of(&subject["narrative"])),
        issuer: party(&credential["issuer"], "url"),
        creator: Some(&achievement["creator"])
            .filter(|creator| !creator.is_null())
            .map(|creator| party(creator, "url")),
        recipient: recipient(subject),
        criteria: party(&achievement["criteria"], "narrative"),
        evidence: values_of(&credential, "evidence").map(|one| party(&one, "narrative")).collect(),
        dates: [
            (phrase!("Awarded"), "awardedDate"),
            (phrase!("Valid from"), "validFrom"),
            (phrase!("Valid until"), "validUntil"),
        ]
        .into_iter()
        .map(|(label, member)| (label, text_of(&credential[member])))
        .filter(|(_, date)| !date.is_empty())
        .map(|(label, date)| (label, CredentialDate::of(&date)))
        .collect(),
        revoked: issued
            .revoked
            .as_deref()
            .map(|at| (CredentialDate::of(at), issued.reason.as_deref().unwrap_or_default())),
        expired: expired(&report, &credential, context.app.clock.now()),
        verified: report.is_verified(),
        checks: report.checks.iter().map(shown_check).collect(),
        has_jwt: issued.issued_by.is_some() || issued.signed.form == CredentialForm::Jws,
    };
    let page = lyceum_console::html(&page)?;
    Ok(Answer::typed(HTML, Body::from(page))
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
        .header(ROBOTS, HeaderValue::from_static("noindex")))
}

/// The day on which a credential expired, if only that is wrong with it.
fn expired(report: &Report, credential: &Value, now: Timestamp) -> Option<CredentialDate> {
    let until = valid_until(credential).filter(|until| *until < now)?;
    let is_else = |check: &Check| !matches!(check.name, "validity" | "claims");
    let mut failed = report.checks.iter().filter(|check| check.outcome == CheckOutcome::Failed);
    (!failed.any(is_else)).then(|| CredentialDate::of(&until.to_string()))
}

fn shown_check(check: &Check) -> CredentialCheck {
    CredentialCheck {
        name: check.name,
        outcome: check.outcome.name(),
        message: check.message.clone(),
    }
}

const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

/// The name of the learner, if this server issued the credential and knows the learner.
async fn learner(context: &Context, issued: &IssuedCredential) -> Result<Option<String>> {
    let Some(id) = issued.learner.clone() else { return Ok(None) };
    let user = context.app.db.read(move |tx| fields::of_all(tx, &USER, [id.as_str()].into_iter()));
    let name = user.await?.values().next().map(fields::full_name);
    Ok(name.filter(|name| !name.is_empty()))
}

/// The ids of the recipient in the credential. Hashed identities stay hashed.
fn recipient(subject: &Value) -> Vec<(&'static str, String)> {
    let mut shown = vec![(phrase!("Recipient's id"), text_of(&subject["id"]))];
    let identities = subject.as_object().into_iter().flat_map(|s| body::objects(s, "identifier"));
    for identity in identities {
        let hash = identity.get("identityHash").map(text_of).unwrap_or_default();
        let kind = identity.get("identityType").map(text_of).unwrap_or_default();
        let is_hashed = identity.get("hashed").and_then(Value::as_bool).unwrap_or_default();
        let label = match is_hashed {
            true => phrase!("Hashed identity"),
            false => phrase!("Identity"),
        };
        shown.push((label, format!("{kind}: {hash}")));
    }
    shown.retain(|(_, text)| !text.is_empty());
    shown
}

/// The values of a member that is one value or a list.
fn values_of(object: &Value, name: &str) -> impl Iterator<Item = Value> {
    match &object[name] {
        Value::Null => Vec::new(),
        Value::Array(all) => all.clone(),
        one => vec![one.clone()],
    }
    .into_iter()
}

/// A text, or the first of a text in several languages.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(languages) => {
            languages.values().find_map(Value::as_str).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}

fn baked_png(issued: &IssuedCredential) -> Result<Vec<u8>> {
    let credential = issued.object()?;
    let (name, by) = label(&credential);
    let image = own_image(&credential, OWN_IMAGES[0]);
    baking::bake_png(&image.unwrap_or_else(|| badge_image::png(&name, &by)), &issued.signed.body)
}

fn baked_svg(issued: &IssuedCredential) -> Result<String> {
    let credential = issued.object()?;
    let (name, by) = label(&credential);
    let image = own_image(&credential, OWN_IMAGES[1]).and_then(|own| String::from_utf8(own).ok());
    baking::bake_svg(&image.unwrap_or_else(|| badge_image::svg(&name, &by)), &issued.signed.body)
}

/// The image that the achievement contains, if its URI begins with `start`. Images on other servers are not fetched.
fn own_image(credential: &Object, start: &str) -> Option<Vec<u8>> {
    let image = credential.get("credentialSubject")?.get("achievement")?.get("image")?;
    let encoded = image["id"].as_str()?.strip_prefix(start)?;
    BASE64_STANDARD.decode(encoded).ok()
}

/// The texts of the default image of a badge: its name and the name of its issuer.
fn label(credential: &Object) -> (String, String) {
    let credential = Value::Object(credential.clone());
    (
        text_of(&credential["credentialSubject"]["achievement"]["name"]),
        text_of(&credential["issuer"]["name"]),
    )
}
