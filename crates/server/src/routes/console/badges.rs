//! Badges and records: what was issued, issuing, revoking, verifying.

use std::collections::HashMap;

use axum::http::header;
use lyceum_access::audit::Change;
use lyceum_bridge::today;
use lyceum_console::badges::{
    ACHIEVEMENTS, Badge, Badges, Check, DEFINITIONS, ISSUED, Issue, Learner, LearnerRecord,
    RECORDS, Tab, Verified, Verify,
};
use lyceum_console::{Cell, Choice, Facts, List, Row, screens, words};
use lyceum_core::text::segment;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_credentials::award::Request;
use lyceum_credentials::body::Object;
use lyceum_credentials::clr::{self, Record};
use lyceum_credentials::definition;
use lyceum_credentials::issued::{self, Issued, Page};
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::students::{link as student_link, name as learner_name};
use super::visitor::query;
use super::{Form, Visitor, action, at_most, deadline, listed, on_to, page, shown};
use crate::answer::Answer;
use crate::context::Context;
use crate::multipart::{self, Part};
use crate::route::Route;
use crate::routes::credentials;

/// Learners who are shown to choose from.
const CHOICES: usize = 20;

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/badges", &screens::BADGES, all),
        page("/badges/definitions", &screens::BADGES, definitions),
        page("/badges/records", &screens::BADGES, records),
        page("/badges/records/{id}", &screens::BADGES, record),
        page("/badges/issue", &screens::BADGES, issue),
        action("/badges/issue", &screens::BADGES, issued_now),
        page("/badges/verify", &screens::BADGES, verify),
        action("/badges/verify", &screens::BADGES, verified_file)
            .reads_as(multipart::MEDIA)
            .reads_up_to(limits::CREDENTIAL_MAX_BYTES),
        page("/badges/credentials/{id}", &screens::BADGES, one),
        action("/badges/credentials/{id}/revoke", &screens::BADGES, revoke),
    ]
}

/// The page of a credential.
fn link(id: &str) -> String {
    format!("/console/badges/credentials/{}", segment(id))
}

/// As many as a page can show.
const MOST: u64 = limits::CONSOLE_CREDENTIALS_MAX_COUNT;

/// The newest of a list that begins with the oldest, as many as a page can show.
fn newest<T>(mut list: impl FnMut(Page) -> Result<(Vec<T>, u64)>) -> Result<Vec<T>> {
    let (_, total) = list(Page::default())?;
    let (mut found, _) =
        list(Page { limit: MOST, offset: total.saturating_sub(MOST), ..Page::default() })?;
    found.reverse();
    Ok(found)
}

async fn all(context: Context, visitor: Visitor) -> Result<Answer> {
    let (found, names) = context
        .app
        .db
        .scan(deadline(), |tx| {
            let found = newest(|page| issued::list(tx, &page))?;
            let names = names(tx, found.iter().filter_map(|issued| issued.learner.as_deref()))?;
            Ok((found, names))
        })
        .await?;
    let query = query(&context);
    let (state, badge) = (query.own("state").to_owned(), query.own("achievement").to_owned());
    let mut rows = Vec::new();
    for issued in &found {
        let credential = Value::from(issued.object()?);
        let is_revoked = issued.revoked.is_some();
        let fits = match state.as_str() {
            "valid" => !is_revoked,
            "revoked" => is_revoked,
            _ => true,
        };
        let achievement = &credential["credentialSubject"]["achievement"]["id"];
        if fits && (badge.is_empty() || achievement == &json!(badge)) {
            rows.push(row(issued, &credential, &names, &visitor));
        }
    }
    let states = [("valid", "Valid"), ("revoked", "Revoked")];
    let list = List::new("Issued badges", ISSUED, query, rows)
        .or_else("No badge was issued yet.")
        .choice(Choice::of("state", "State", states.into_iter()))
        .note(at_most(found.len(), MOST));
    let view = Badges { frame: visitor.frame("Badges and records"), tab: Tab::Issued, list };
    listed("badges", &view.list, &view)
}

fn row(
    issued: &Issued,
    credential: &Value,
    names: &HashMap<String, String>,
    visitor: &Visitor,
) -> Row {
    let learner = match &issued.learner {
        Some(id) => Cell::text(names.get(id).unwrap_or(id)).to(student_link(id)),
        None => Cell::missing("issued elsewhere"),
    };
    let state = match &issued.revoked {
        Some(_) => Cell::text("revoked").toned("bad"),
        None => Cell::text("valid").toned("good"),
    };
    let from = issued.kept.valid_from;
    let public = format!("/credentials/{}", issued.id);
    vec![
        Cell::text(title(credential)).to(link(&issued.id)),
        learner,
        Cell::text(text(&credential["issuer"]["name"])),
        Cell::when(from, visitor.zone.written(from)),
        state,
        Cell::of(public.as_str(), "open").to(public),
    ]
}

/// What a credential is called.
fn title(credential: &Value) -> String {
    let achievement = &credential["credentialSubject"]["achievement"]["name"];
    let titles = [text(&credential["name"]), text(achievement), "Credential".to_owned()];
    titles.into_iter().find(|title| !title.is_empty()).unwrap_or_default()
}

/// A text, or the first of a text in several languages.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(languages) => {
            languages.values().find_map(Value::as_str).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}

/// The names of users, by their sourcedIds.
fn names<'i>(
    tx: &mut Tx<'_>,
    ids: impl Iterator<Item = &'i str>,
) -> Result<HashMap<String, String>> {
    let users = fields::of_all(tx, &USER, ids)?;
    Ok(users.iter().map(|(id, user)| (id.clone(), fields::full_name(user))).collect())
}

async fn definitions(context: Context, visitor: Visitor) -> Result<Answer> {
    let (stored, issued) = context
        .app
        .db
        .scan(deadline(), |tx| {
            let (stored, _) = definition::list(tx, MOST, 0)?;
            Ok((stored, newest(|page| issued::list(tx, &page))?))
        })
        .await?;
    let mut counts: HashMap<String, usize> = HashMap::new();
    for issued in issued.iter().filter(|issued| issued.learner.is_some()) {
        let credential = Value::from(issued.object()?);
        *counts.entry(text(&credential["credentialSubject"]["achievement"]["id"])).or_default() +=
            1;
    }
    let rows = stored.iter().map(|stored| {
        let achievement = &stored.definition.achievement;
        let count = counts.get(achievement).copied().unwrap_or_default();
        let chosen = segment(achievement);
        vec![
            Cell::text(stored.definition.name())
                .to(format!("/console/badges/issue?achievement={chosen}")),
            Cell::text(achievement),
            Cell::of(count, count.to_string()).to(format!("/console/badges?achievement={chosen}")),
            stored.updated.parse().map_or_else(
                |_| Cell::text(&stored.updated),
                |updated| super::events::at(&visitor, updated),
            ),
        ]
    });
    let list = List::new("Badges", DEFINITIONS, query(&context), rows.collect())
        .or_else("No badge is defined yet. `POST /ims/ob/v3p0/badges` defines one.")
        .note(at_most(stored.len().max(issued.len()), MOST));
    let view = Badges { frame: visitor.frame("Badges and records"), tab: Tab::Definitions, list };
    listed("badge-definitions", &view.list, &view)
}

async fn records(context: Context, visitor: Visitor) -> Result<Answer> {
    let (found, names) = context
        .app
        .db
        .scan(deadline(), |tx| {
            let found = newest(|page| clr::list(tx, &page))?;
            let names = names(tx, found.iter().filter_map(|record| record.of.learner.as_deref()))?;
            Ok((found, names))
        })
        .await?;
    let row = |record: &Record| -> Result<Row> {
        let object = record.object()?;
        let achievements = clr::achievements(&object).len();
        let to = record_link(&record.of.id);
        Ok(vec![
            Cell::text(record_title(&object)).to(&to),
            record_learner(record, &names),
            Cell::of(achievements, achievements.to_string()).to(&to),
            Cell::when(record.of.valid_from, visitor.zone.written(record.of.valid_from)),
            Cell::of(record.number, record.number.to_string()).to(&to),
        ])
    };
    let rows = found.iter().map(row).collect::<Result<Vec<Row>>>()?;
    let list = List::new("Learner records", RECORDS, query(&context), rows)
        .or_else("There are no learner records yet. `GET /ims/clr/v2p0/credentials` shows what there is over the API.")
        .note(at_most(found.len(), MOST));
    let view = Badges { frame: visitor.frame("Badges and records"), tab: Tab::Records, list };
    listed("records", &view.list, &view)
}

/// The page of a learner record.
fn record_link(id: &str) -> String {
    format!("/console/badges/records/{}", segment(id))
}

fn record_title(object: &Object) -> String {
    let name = object.get("name").map(text).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "Learner record".to_owned())
}

fn record_learner(record: &Record, names: &HashMap<String, String>) -> Cell {
    record
        .of
        .learner
        .as_ref()
        .map_or_else(Cell::none, |id| Cell::text(names.get(id).unwrap_or(id)).to(student_link(id)))
}

async fn record(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, base_url) = (context.param("id").to_owned(), context.base_url().to_owned());
    let read = move |tx: &mut Tx<'_>| {
        let record = clr::found(tx, &base_url, &id)?;
        let names = names(tx, record.of.learner.as_deref().into_iter())?;
        Ok((record, names))
    };
    let (record, names) = context.app.db.read(read).await?;
    let object = record.object()?;
    let mut facts = vec![
        ("Learner", record_learner(&record, &names)),
        ("Valid from", Cell::text(visitor.zone.written(record.of.valid_from))),
        ("Version", Cell::of(record.number, record.number.to_string())),
        ("Id", Cell::text(&record.of.id)),
    ];
    if let Some(at) = &record.revoked {
        let day = at.parse().map_or_else(|_| at.clone(), |at| visitor.zone.written(at));
        let parts = [day, record.reason.clone().unwrap_or_default()];
        facts.push(("Revoked", Cell::text(parts.join(" ").trim())));
    }
    let facts = Facts::new(facts);
    let row = |achievement: &Value| {
        ["name", "description", "id"].map(|name| Cell::text(text(&achievement[name]))).to_vec()
    };
    let rows = clr::achievements(&object).iter().map(row).collect();
    let list = List::new("Achievements", ACHIEVEMENTS, query(&context), rows)
        .or_else("This record holds no achievement.");
    let body = serde_json::to_string_pretty(&object).map_err(Problem::internal)?;
    let view = LearnerRecord { frame: visitor.frame(record_title(&object)), facts, list, body };
    listed("achievements", &view.list, &view)
}

async fn issue(context: Context, visitor: Visitor) -> Result<Answer> {
    let asked = query(&context);
    let (learner, achievement) =
        (asked.own("learner").trim().to_owned(), asked.own("achievement").to_owned());
    let (wanted, now, zone) =
        (words::folded(&learner), context.app.clock.now(), visitor.zone.clone());
    let (mut found, stored) = context
        .app
        .db
        .scan(deadline(), move |tx| {
            let mut found = Vec::new();
            if !wanted.is_empty() {
                found = today::of_all(tx, now, &zone)?;
                let fits = |day: &today::StudentDay| {
                    let learner = &day.learner;
                    let texts = [&learner_name(learner), &learner.email, &learner.id];
                    texts.iter().any(|text| words::folded(text).contains(&wanted))
                };
                let is_named =
                    found.iter().position(|day| words::folded(&day.learner.id) == wanted);
                match is_named {
                    Some(at) => found = vec![found.swap_remove(at)],
                    None => found.retain(fits),
                }
            }
            let (stored, _) = definition::list(tx, MOST, 0)?;
            Ok((found, stored))
        })
        .await?;
    let more = found.len().saturating_sub(CHOICES);
    found.truncate(CHOICES);
    let about = |day: &today::StudentDay| {
        let grade = if day.learner.grade.is_empty() {
            String::new()
        } else {
            format!("Grade {}", day.learner.grade)
        };
        let mut parts =
            vec![grade, day.school.clone(), day.learner.email.clone(), day.learner.id.clone()];
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    };
    shown(&Issue {
        frame: visitor.frame("Issue a badge"),
        learner,
        found: found
            .iter()
            .map(|day| Learner {
                id: day.learner.id.clone(),
                name: learner_name(&day.learner),
                about: about(day),
            })
            .collect(),
        more,
        badges: stored
            .iter()
            .map(|stored| {
                (stored.definition.achievement.clone(), stored.definition.name().to_owned())
            })
            .collect(),
        achievement,
    })
}

async fn issued_now(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let mut body = Object::new();
    body.insert("achievementId".to_owned(), form.field("achievement").into());
    body.insert("userId".to_owned(), form.field("learner").into());
    let narrative = form.field("narrative").trim();
    if !narrative.is_empty() {
        body.insert("narrative".to_owned(), narrative.into());
    }
    let request = Request::read(&body, context.base_url())?;
    let (now, who) = (context.app.clock.now(), visitor.person.email.clone());
    let details = Value::Object(body);
    let note = move |tx: &mut Tx<'_>, issued: &Issued| {
        let change = Change { who: &who, what: "badge.issue", subject: &issued.id };
        change.note(tx, now, &details)
    };
    let (issued, _) = credentials::issue(&context, request, note).await?;
    Ok(on_to(&format!("{}?done=issued", link(&issued.id))))
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let (issued, learner) = context
        .app
        .db
        .read(move |tx| {
            let issued = issued::public(tx, &id)?;
            let names = names(tx, issued.learner.as_deref().into_iter())?;
            let learner = names.into_iter().next().map(|(id, name)| (name, student_link(&id)));
            Ok((issued, learner))
        })
        .await?;
    let credential = Value::from(issued.object()?);
    let report = credentials::report(&context.app, issued.kept.body.clone().into()).await?;
    let written =
        |at: &String| at.parse().map_or_else(|_| at.clone(), |at| visitor.zone.written(at));
    let done = match query(&context).own("done") {
        "issued" => "The badge is issued. Its public page can be passed on.",
        "revoked" => "The badge is revoked.",
        _ => "",
    };
    shown(&Badge {
        frame: visitor.frame(title(&credential)),
        learner,
        verified: told(&report),
        revoked: issued
            .revoked
            .as_ref()
            .map(|at| (written(at), issued.reason.clone().unwrap_or_default())),
        is_ours: issued.issued_by.is_some(),
        done,
        id: issued.id,
    })
}

async fn revoke(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let reason = form.field("reason").trim().to_owned();
    if reason.is_empty() || reason.len() > limits::REVOCATION_REASON_MAX_BYTES {
        let most = limits::REVOCATION_REASON_MAX_BYTES;
        return Err(Problem::invalid("reason", format!("is required, {most} bytes at most")));
    }
    let (id, now, who) =
        (context.param("id").to_owned(), context.app.clock.now(), visitor.person.email.clone());
    let revoked = context.app.db.write(move |tx| {
        let issued = issued::public(tx, &id)?;
        if issued.revoked.is_none() {
            let change = Change { who: &who, what: "badge.revoke", subject: &issued.id };
            change.note(tx, now, &json!({ "reason": reason }))?;
        }
        issued::revoke(tx, now, &issued.id, Some(&reason))
    });
    Ok(on_to(&format!("{}?done=revoked", link(&revoked.await?.id))))
}

async fn verify(_: Context, visitor: Visitor) -> Result<Answer> {
    verify_page(&visitor, None, String::new())
}

fn verify_page(
    visitor: &Visitor,
    result: Option<(String, Verified)>,
    problem: String,
) -> Result<Answer> {
    let frame = visitor.frame("Badges and records");
    shown(&Verify { frame, tab: Tab::Verify, result, problem })
}

async fn verified_file(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let media = context.header(header::CONTENT_TYPE).unwrap_or_default();
    let parts = multipart::parts(media, &context.body).await.unwrap_or_default();
    let file = parts.into_iter().find(|part| part.file.is_some() && !part.body.is_empty());
    let Some(Part { file: Some(name), body, .. }) = file else {
        let problem = "There is no file, or it is empty; choose one.".to_owned();
        return verify_page(&visitor, None, problem);
    };
    match credentials::report(&context.app, body).await {
        Ok(report) => verify_page(&visitor, Some((name, told(&report))), String::new()),
        Err(problem) if problem.kind != ProblemKind::Internal => {
            verify_page(&visitor, None, crate::render::sentence(&problem))
        }
        Err(problem) => Err(problem),
    }
}

/// A report as it is shown, with what the credential says of itself.
fn told(report: &credentials::Verified) -> Verified {
    let credential = report.credential();
    let (subject, issuer) = (&credential["credentialSubject"], &credential["issuer"]);
    let named = [text(&issuer["name"]), text(&issuer["id"])].join(" ").trim().to_owned();
    let mut says = vec![
        ("Name", title(credential)),
        ("Issuer", if named.is_empty() { text(issuer) } else { named }),
        ("What for", text(&subject["achievement"]["criteria"]["narrative"])),
        ("Said of the learner", text(&subject["narrative"])),
        ("Valid from", text(&credential["validFrom"])),
        ("Valid until", text(&credential["validUntil"])),
    ];
    says.retain(|(_, text)| !text.is_empty() && !credential.is_null());
    let check = |check: credentials::Shown| Check {
        name: check.name.to_owned(),
        outcome: check.outcome.to_owned(),
        message: check.message,
    };
    Verified {
        is_verified: report.is_verified(),
        checks: report.checks().into_iter().map(check).collect(),
        says,
    }
}
