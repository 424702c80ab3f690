//! Badges and learner records: lists, and forms to issue, revoke and verify them.

pub(crate) mod view;

use http::header;
use lyceum_access::audit::AuditChange;
use lyceum_api::{Context, Route, credentials};
use lyceum_console::language::{ProblemText, message};
use lyceum_console::{Cell, FactList, List, ListFilter, Row, links, screens, t, words};
use lyceum_core::{Problem, ProblemKind, Result, phrase};
use lyceum_credentials::award::AwardRequest;
use lyceum_credentials::issued::IssuedCredential;
use lyceum_credentials::limits;
use lyceum_credentials::screens::badges::BadgeState;
use lyceum_credentials::screens::{
    self as screen, Learner as KnownLearner, badges, issuing, records, text,
};
use lyceum_credentials::verify::Report;
use lyceum_http::answer::Answer;
use lyceum_http::multipart::{self, FormField};
use lyceum_store::Tx;
use serde_json::json;

use super::visitor::query;
use super::{Form, Visitor, action, at_most, deadline, on_to, page, show_list, show_page};
use crate::console::badges::view::{
    ACHIEVEMENTS, BadgeLearner, BadgePage, BadgesPage, BadgesTab, CredentialCheck, DEFINITIONS,
    ISSUED, IssuePage, LearnerRecordPage, RECORDS, VerificationResult, VerifyPage,
};

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/badges", &screens::BADGES, all).within_reach(),
        page("/badges/definitions", &screens::BADGES, definitions).within_reach(),
        page("/badges/records", &screens::BADGES, all_records).within_reach(),
        page("/badges/records/{id}", &screens::BADGES, record).within_reach(),
        page("/badges/issue", &screens::BADGES, issue).within_reach(),
        action("/badges/issue", &screens::BADGES, issued_now).within_reach(),
        page("/badges/verify", &screens::BADGES, verify).of_no_organization(),
        action("/badges/verify", &screens::BADGES, verified_file)
            .of_no_organization()
            .reads_as(multipart::MEDIA)
            .reads_up_to(limits::CREDENTIAL_MAX_BYTES),
        page("/badges/credentials/{id}", &screens::BADGES, one).within_reach(),
        action("/badges/credentials/{id}/revoke", &screens::BADGES, revoke).within_reach(),
    ]
}

/// The number of learners that the form can list.
const MOST: u64 = limits::CONSOLE_CREDENTIALS_MAX_COUNT;

async fn all(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let filter = badges::Filter {
        state: match query.parameter("state") {
            "valid" => Some(BadgeState::Valid),
            "expired" => Some(BadgeState::Expired),
            "revoked" => Some(BadgeState::Revoked),
            _ => None,
        },
        achievement: query.parameter("achievement").to_owned(),
    };
    let (now, reach) = (context.app.clock.now(), context.reach());
    let read = move |tx: &mut Tx<'_>| badges::read(tx, now, &filter, &reach);
    let found = context.app.db.scan(deadline(), read).await?;
    let states = [("valid", t!("Valid")), ("expired", t!("Expired")), ("revoked", t!("Revoked"))];
    let rows = found.badges.iter().map(|badge| row(badge, &visitor)).collect();
    let list = List::new("Issued badges", ISSUED, query, rows)
        .or_else("No badges have been issued yet.")
        .choice(ListFilter::of("state", "State", states.into_iter()))
        .note(at_most(found.read_count, MOST));
    let view =
        BadgesPage { frame: visitor.frame(t!("Badges and records")), tab: BadgesTab::Issued, list };
    show_list("badges", &view.list, &view)
}

fn row(badge: &badges::Badge, visitor: &Visitor) -> Row {
    let public = format!("/credentials/{}", badge.id);
    vec![
        Cell::text(name_or(&badge.title, t!("Credential"))).to(links::badge(&badge.id)),
        badge.learner.as_ref().map_or_else(|| Cell::missing(&t!("issued elsewhere")), learner),
        Cell::text(&badge.issuer),
        visitor.time(badge.valid_from),
        match badge.state {
            BadgeState::Valid => Cell::text(t!("valid")).toned("good"),
            BadgeState::Expired => Cell::text(t!("expired")).toned("warn"),
            BadgeState::Revoked => Cell::text(t!("revoked")).toned("bad"),
        },
        Cell::of(public.as_str(), t!("open")).to(public),
    ]
}

fn learner(learner: &KnownLearner) -> Cell {
    Cell::text(&learner.name).to(links::student(&learner.id))
}

async fn definitions(context: Context, visitor: Visitor) -> Result<Answer> {
    let reach = context.reach();
    let read = move |tx: &mut Tx<'_>| badges::definitions(tx, &reach);
    let found = context.app.db.scan(deadline(), read).await?;
    let rows = found.definitions.iter().map(|definition| {
        vec![
            Cell::text(&definition.name).to(links::issue_badge(&definition.achievement)),
            Cell::text(&definition.achievement),
            Cell::count(definition.issued_count).to(links::badges_of(&definition.achievement)),
            visitor.time_of_text(&definition.updated),
        ]
    });
    let list = List::new("Badges", DEFINITIONS, query(&context), rows.collect())
        .or_else("No badges are defined yet. `POST /ims/ob/v3p0/badges` defines one.")
        .note(at_most(found.read_count, MOST));
    let view = BadgesPage {
        frame: visitor.frame(t!("Badges and records")),
        tab: BadgesTab::Definitions,
        list,
    };
    show_list("badge-definitions", &view.list, &view)
}

async fn all_records(context: Context, visitor: Visitor) -> Result<Answer> {
    let reach = context.reach();
    let read = move |tx: &mut Tx<'_>| records::read(tx, &reach);
    let found = context.app.db.scan(deadline(), read).await?;
    let rows = found.iter().map(|record| {
        let to = links::learner_record(&record.id);
        vec![
            Cell::text(name_or(&record.title, t!("Learner record"))).to(&to),
            record.learner.as_ref().map_or_else(Cell::none, learner),
            Cell::count(record.achievement_count).to(&to),
            visitor.time(record.valid_from),
            Cell::count(record.version).to(&to),
        ]
    });
    let list = List::new("Learner records", RECORDS, query(&context), rows.collect())
        .or_else("There are no learner records yet. `GET /ims/clr/v2p0/credentials` lists them over the API.")
        .note(at_most(found.len(), MOST));
    let view = BadgesPage {
        frame: visitor.frame(t!("Badges and records")),
        tab: BadgesTab::Records,
        list,
    };
    show_list("records", &view.list, &view)
}

/// The name of a credential, or the word for a credential without a name.
fn name_or(name: &str, otherwise: String) -> String {
    if name.is_empty() { otherwise } else { name.to_owned() }
}

async fn record(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, base_url, reach) =
        (context.param("id").to_owned(), context.base_url().to_owned(), context.reach());
    let found = context.app.db.read(move |tx| records::one(tx, &base_url, &id, &reach)).await?;
    let record = &found.record;
    let mut facts = vec![
        (phrase!("Learner"), found.learner.as_ref().map_or_else(Cell::none, learner)),
        (phrase!("Valid from"), Cell::text(visitor.calendar.moment(record.of.valid_from))),
        (phrase!("Version"), Cell::count(record.number)),
        (phrase!("Id"), Cell::text(&record.of.id)),
    ];
    if let Some(at) = &record.revoked {
        let parts = [visitor.format(at), record.reason.clone().unwrap_or_default()];
        facts.push((phrase!("Revoked"), Cell::text(parts.join(" ").trim())));
    }
    let rows = found.achievements.iter().map(|achievement| {
        [&achievement.name, &achievement.description, &achievement.id].map(Cell::text).to_vec()
    });
    let list = List::new("Achievements", ACHIEVEMENTS, query(&context), rows.collect())
        .or_else("This record has no achievements.");
    let body = serde_json::to_string_pretty(&found.body).map_err(Problem::internal)?;
    let (frame, facts) =
        (visitor.frame(name_or(&found.title, t!("Learner record"))), FactList::new(facts));
    let view = LearnerRecordPage { frame, facts, list, body };
    show_list("achievements", &view.list, &view)
}

async fn issue(context: Context, visitor: Visitor) -> Result<Answer> {
    let query = query(&context);
    let search = query.parameter("learner").trim().to_owned();
    let (sought, reach) = (search.clone(), context.reach());
    let read = move |tx: &mut Tx<'_>| issuing::read(tx, &sought, &reach);
    let choices = context.app.db.scan(deadline(), read).await?;
    show_page(&IssuePage {
        frame: visitor.frame(t!("Issue a badge")),
        learner: search,
        found: choices.learners.iter().map(candidate).collect(),
        more: choices.more_count,
        badges: choices.badges,
        achievement: query.parameter("achievement").to_owned(),
    })
}

fn candidate(issuing::Candidate { learner, school }: &issuing::Candidate) -> BadgeLearner {
    let grade = match learner.grade.as_str() {
        "" => String::new(),
        grade => words::grade(grade),
    };
    let mut about = vec![grade, school.clone(), learner.email.clone(), learner.id.clone()];
    about.retain(|part| !part.is_empty());
    BadgeLearner { id: learner.id.clone(), name: learner.name(), about: about.join(" · ") }
}

async fn issued_now(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let mut details = json!({
        "achievementId": form.field("achievement"),
        "userId": form.field("learner"),
    });
    let narrative = form.field("narrative").trim();
    if !narrative.is_empty() {
        details["narrative"] = narrative.into();
    }
    let request: AwardRequest = lyceum_core::body::of(details.clone())?;
    let (now, who) = (context.app.clock.now(), visitor.person.email.clone());
    let note = move |tx: &mut Tx<'_>, issued: &IssuedCredential| {
        let change = AuditChange { who: &who, what: "badge.issue", subject: &issued.id };
        change.note(tx, now, &details)
    };
    let (issued, _) = credentials::issue(&context, request, note).await?;
    Ok(on_to(&format!("{}?done=issued", links::badge(&issued.id))))
}

async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let (id, reach) = (context.param("id").to_owned(), context.reach());
    let badges::OneBadge { issued, title, learner } =
        context.app.db.read(move |tx| badges::one(tx, &id, &reach)).await?;
    let report = credentials::report(&context.app, issued.signed.body.clone().into()).await?;
    let done = match query(&context).parameter("done") {
        "issued" => t!("The badge is issued. You can share its public page."),
        "revoked" => t!("The badge is revoked."),
        _ => String::new(),
    };
    show_page(&BadgePage {
        frame: visitor.frame(name_or(&title, t!("Credential"))),
        learner: learner.map(|learner| (learner.name, links::student(&learner.id))),
        verified: verified(&report),
        revoked: issued
            .revoked
            .as_ref()
            .map(|at| (visitor.format(at), issued.reason.clone().unwrap_or_default())),
        is_ours: issued.issued_by.is_some(),
        done,
        id: issued.id,
    })
}

async fn revoke(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let (id, reason) = (context.param("id").to_owned(), form.field("reason").trim().to_owned());
    let (now, who, reach) =
        (context.app.clock.now(), visitor.person.email.clone(), context.reach());
    let revoke = move |tx: &mut Tx<'_>| badges::revoke(tx, now, &who, &id, &reason, &reach);
    let revoked = context.app.db.write(revoke).await?;
    Ok(on_to(&format!("{}?done=revoked", links::badge(&revoked.id))))
}

async fn verify(_: Context, visitor: Visitor) -> Result<Answer> {
    verify_page(&visitor, None, None)
}

fn verify_page(
    visitor: &Visitor,
    result: Option<(String, VerificationResult)>,
    problem: Option<ProblemText>,
) -> Result<Answer> {
    let frame = visitor.frame(t!("Badges and records"));
    show_page(&VerifyPage { frame, tab: BadgesTab::Verify, result, problem })
}

async fn verified_file(context: Context, visitor: Visitor, _: Form) -> Result<Answer> {
    let media = context.header(header::CONTENT_TYPE).unwrap_or_default();
    let parts = multipart::parts(media, &context.body).await.unwrap_or_default();
    let file = parts.into_iter().find(|part| part.file.is_some() && !part.body.is_empty());
    let Some(FormField { file: Some(name), body, .. }) = file else {
        let problem = ProblemText::of("the file is missing or empty; choose a file");
        return verify_page(&visitor, None, Some(problem));
    };
    match credentials::report(&context.app, body).await {
        Ok(report) => verify_page(&visitor, Some((name, verified(&report))), None),
        Err(problem) if problem.kind != ProblemKind::Internal => {
            verify_page(&visitor, None, Some(lyceum_http::render::sentence(&problem)))
        }
        Err(problem) => Err(problem),
    }
}

/// A verification report with the values of its credential, as the page shows it.
fn verified(report: &Report) -> VerificationResult {
    let credential = &report.credential;
    let (subject, issuer) = (&credential["credentialSubject"], &credential["issuer"]);
    let issuer_name = [text(&issuer["name"]), text(&issuer["id"])].join(" ").trim().to_owned();
    let mut description = vec![
        (t!("Name"), name_or(&screen::title(credential), t!("Credential"))),
        (t!("Issuer"), name_or(&issuer_name, text(issuer))),
        (t!("Criteria"), text(&subject["achievement"]["criteria"]["narrative"])),
        (t!("About the learner"), text(&subject["narrative"])),
        (t!("Valid from"), text(&credential["validFrom"])),
        (t!("Valid until"), text(&credential["validUntil"])),
    ];
    description.retain(|(_, text)| !text.is_empty() && !credential.is_null());
    let check = |check: &lyceum_credentials::verify::Check| CredentialCheck {
        name: message(&check.name.into()),
        outcome: check.outcome.name(),
        message: message(&check.message),
    };
    VerificationResult {
        is_verified: report.is_verified(),
        checks: report.checks.iter().map(check).collect(),
        description,
    }
}
