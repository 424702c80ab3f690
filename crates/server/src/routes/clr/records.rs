//! Learner records.

use std::time::Duration;

use axum::http::{StatusCode, header};
use lyceum_access::Scope::{
    ClrCredentialReadonly, ClrCredentialUpsert, CredentialsRead, CredentialsWrite,
};
use lyceum_core::text::segment;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_credentials::body::{self, Object};
use lyceum_credentials::clr::{self, Record, StoreOutcome, Unsigned, Version};
use lyceum_credentials::issued::{CredentialForm, Page};
use lyceum_credentials::issuer::Signer;
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::credentials::{
    MEDIA, PAGED, as_jwt, by_forms, check_own, credential, credentials, is_jws, is_rsa_wanted,
    list_of, list_parameters, own_issuer, paged, reason, report, signer, since, slice, text,
    verified, wants_jws,
};
use crate::answer::Answer;
use crate::apart::apart;
use crate::context::Context;
use crate::etag;
use crate::route::{Access, ParamPlace, Route, delete, get, post, put};

pub(super) fn routes() -> Vec<Route> {
    let reads: Access = [ClrCredentialReadonly, CredentialsRead].into();
    let writes: Access = [ClrCredentialUpsert, CredentialsWrite].into();
    let create = |route: Route| {
        route
            .reads_as(MEDIA)
            .reads_schema(json!({ "type": "object" }))
            .reads_up_to(limits::CLR_MAX_BYTES)
            .answers_schema(201, "The record, signed.", credential())
            .answers_empty(304, "It was signed elsewhere, and the one that is kept is as new.")
    };
    vec![
        list_parameters(
            get("/credentials", reads, listed)
                .named("getClrCredentials")
                .says("The newest versions of the records, in the order in which they became valid."),
        )
        .answers_schema(200, "The page.", credentials())
        .with_headers(PAGED),
        create(
            post("/credentials", writes, |context| posted(context, Existing::Replaced))
                .named("upsertClrCredential")
                .says("Keeps a learner record and signs it; with the id of one that is there as its new version."),
        )
        .answers_schema(200, "A new version of it, signed.", credential()),
        create(
            post("/clr", writes, |context| posted(context, Existing::Conflicts))
                .named("createClr")
                .says("Keeps a new learner record and signs it. The same record again changes nothing; another one with its id is a conflict."),
        )
        .answers_schema(200, "The same record is kept already.", credential()),
        get("/clr/{id}", reads, read)
            .named("getClr")
            .says("A record, as it was signed last.")
            .param(ParamPlace::Query, "as", json!({ "enum": ["given"] }), "The record as it was sent.")
            .param(ParamPlace::Query, "format", json!({ "enum": ["json", "jwt"] }), "The record as a JWT.")
            .param(ParamPlace::Query, "alg", json!({ "enum": ["EdDSA", "RS256"] }), "The algorithm of the JWT.")
            .answers_schema(200, "The record.", credential()),
        put("/clr/{id}", writes, updated)
            .of_version()
            .named("updateClr")
            .says("Adds achievements to a record, or changes them: a new version, signed. A deleted record is restored.")
            .reads_schema(json!({ "type": "object" }))
            .reads_up_to(limits::CLR_MAX_BYTES)
            .answers_schema(200, "The new version.", credential()),
        delete("/clr/{id}", writes, deleted)
            .of_version()
            .named("deleteClr")
            .says("Deletes a record. Copies of it stay valid unless it was revoked before.")
            .answers_empty(204, "Deleted; PUT restores it."),
        post("/clr/{id}/revoke", writes, revoked)
            .named("revokeClr")
            .says("Revokes a record that this server signed, with all of its versions, for good.")
            .reads_schema(json!({ "type": "object", "properties": { "reason": { "type": "string" } } }))
            .answers_schema(200, "Revoked, now or before.", verified()),
        get("/clr/{id}/achievements", reads, achievements)
            .named("getClrAchievements")
            .says("The achievements of a record and of the credentials in it, each once.")
            .answers_schema(200, "The achievements.", list_of("achievements", json!({ "type": "object" }).into())),
        get("/clr/{id}/versions", reads, versions)
            .named("getClrVersions")
            .says("The versions of a record, the newest first.")
            .answers_schema(200, "The versions.", list_of("versions", json!({ "type": "object" }).into())),
        get("/clr/{id}/versions/{version}", reads, version)
            .named("getClrVersion")
            .says("A version of a record by its number.")
            .answers_schema(200, "The version, as it was signed.", credential()),
        post("/clr/{id}/compile", writes, compiled)
            .named("compileClr")
            .says("Makes a new version of a learner's record of the badges and results that are here; the id is the record's or the user's.")
            .answers_schema(201, "A record that did not exist before.", credential())
            .answers_schema(200, "The new version.", credential()),
    ]
}

async fn listed(context: Context) -> Result<Answer> {
    let slice = slice(&context)?;
    let page =
        Page { limit: slice.limit, offset: slice.offset, since: since(&context)?, learner: None };
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    let (found, total) = context.app.db.scan(deadline, move |tx| clr::list(tx, &page)).await?;
    let by_form = found.iter().map(|record| (record.of.form, record.of.body.as_str()));
    Ok(paged(by_forms(by_form)?, &context, &slice, total))
}

/// What to do if a record with the same id exists.
#[derive(Clone, Copy)]
enum Existing {
    /// Store the sent record as its new version, as the standard's upsert does.
    Replaced,
    /// Keep the existing record, and refuse the sent one unless both are equal.
    Conflicts,
}

async fn posted(context: Context, existing: Existing) -> Result<Answer> {
    if is_jws(&context) {
        return upserted(&context, clr::signed_jws(context.text()?)?).await;
    }
    let given = body::parse(&context.body)?;
    if body::has_proof(&given) {
        return upserted(&context, clr::signed(&given, context.text()?.trim())?).await;
    }
    let signer = signer(&context).await?;
    let unsigned = unsigned(&context, &signer, given).await?;
    kept(&context, signer, unsigned, existing).await
}

/// The unsigned record.
async fn unsigned(context: &Context, signer: &Signer, given: Object) -> Result<Unsigned> {
    let (now, base_url) = (context.app.clock.now(), context.base_url().to_owned());
    let profile = signer.issuer.profile.clone();
    let read = move |tx: &mut Tx<'_>| clr::unsigned(tx, now, &base_url, &profile, &given);
    context.app.db.read(read).await
}

/// The signed record, with its entry in a status list.
async fn signed(context: &Context, signer: Signer, unsigned: Unsigned) -> Result<Version> {
    let (base_url, issuer) = (context.base_url().to_owned(), signer.issuer.clone());
    let place = move |tx: &mut Tx<'_>| clr::placed(tx, &base_url, &issuer, unsigned.clone());
    let unsigned = context.app.db.write(place).await?;
    let now = context.app.clock.now();
    apart(move || unsigned.sign(&signer, now)).await
}

/// Stores a record that another issuer signed, and returns it unchanged.
async fn upserted(context: &Context, version: Version) -> Result<Answer> {
    check_own(context, &version.body, own_issuer(context, &version.body).await?).await?;
    let (form, body) = (version.form, version.body.clone());
    let now = context.app.clock.now();
    let outcome = context.app.db.write(move |tx| clr::upsert(tx, now, &version)).await?;
    let status = match outcome {
        StoreOutcome::Created => StatusCode::CREATED,
        StoreOutcome::Updated => StatusCode::OK,
        StoreOutcome::Unchanged => return Ok(Answer::empty(StatusCode::NOT_MODIFIED)),
    };
    Ok(match form {
        CredentialForm::Json => Answer::json(body),
        CredentialForm::Jws => text(body),
    }
    .status(status))
}

/// Signs and stores a record.
async fn kept(
    context: &Context,
    signer: Signer,
    unsigned: Unsigned,
    existing: Existing,
) -> Result<Answer> {
    let version = signed(context, signer, unsigned).await?;
    let now = context.app.clock.now();
    let keep = move |tx: &mut Tx<'_>| match existing {
        Existing::Replaced => clr::put(tx, now, &version),
        Existing::Conflicts => clr::create(tx, now, &version),
    };
    let (record, outcome) = context.app.db.write(keep).await?;
    let status = match outcome {
        StoreOutcome::Created => StatusCode::CREATED,
        StoreOutcome::Updated | StoreOutcome::Unchanged => StatusCode::OK,
    };
    let location = format!("{}/ims/clr/v2p0/clr/{}", context.base_url(), segment(&record.of.id));
    Ok(shown(&record).status(status).header(header::LOCATION, location))
}

/// A record in its signed form.
fn shown(record: &Record) -> Answer {
    match record.of.form {
        CredentialForm::Json => Answer::json(record.of.body.clone()),
        CredentialForm::Jws => text(record.of.body.clone()),
    }
    .header(header::ETAG, etag::tag(record.number))
}

async fn found(context: &Context) -> Result<Record> {
    let (id, base_url) = (context.param("id").to_owned(), context.base_url().to_owned());
    context.app.db.read(move |tx| clr::found(tx, &base_url, &id)).await
}

async fn read(context: Context) -> Result<Answer> {
    let record = found(&context).await?;
    if context.asked("as").as_deref() == Some("given") {
        return Ok(match record.of.form {
            CredentialForm::Json => Answer::json(record.of.given),
            CredentialForm::Jws => text(record.of.given),
        });
    }
    if !wants_jws(&context) || record.of.form == CredentialForm::Jws {
        return Ok(shown(&record));
    }
    let credential = Value::Object(record.object()?);
    let Some(issuer) = own_issuer(&context, &record.of.body).await? else {
        let message = "the record was signed elsewhere with an embedded proof; only its issuer can sign \
                       it as a JWT";
        return Err(Problem::invalid("format", message));
    };
    let with_rsa = is_rsa_wanted(&context)?;
    Ok(text(as_jwt(&context.app, &issuer, credential, with_rsa).await?))
}

async fn updated(context: Context) -> Result<Answer> {
    let sent = body::parse(&context.body)?;
    let (id, base_url) = (context.param("id").to_owned(), context.base_url().to_owned());
    let find = move |tx: &mut Tx<'_>| clr::found_or_deleted(tx, &base_url, &id);
    let record = context.app.db.read(find).await?;
    record.expect(etag::expected(&context)?)?;
    let now = context.app.clock.now();
    let given: Object = clr::updated(now, &record, &sent)?;
    let signer = signer(&context).await?;
    let unsigned = unsigned(&context, &signer, given).await?;
    let version = signed(&context, signer, unsigned).await?;
    let write = move |tx: &mut Tx<'_>| clr::follow(tx, now, &version, &record);
    Ok(shown(&context.app.db.write(write).await?))
}

async fn deleted(context: Context) -> Result<Answer> {
    let (id, base_url) = (context.param("id").to_owned(), context.base_url().to_owned());
    let (now, expected) = (context.app.clock.now(), etag::expected(&context)?);
    context.app.db.write(move |tx| clr::delete(tx, now, &base_url, &id, expected)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn revoked(context: Context) -> Result<Answer> {
    let reason = reason(&context)?;
    let (id, base_url) = (context.param("id").to_owned(), context.base_url().to_owned());
    let now = context.app.clock.now();
    let revoke = move |tx: &mut Tx<'_>| clr::revoke(tx, now, &base_url, &id, reason.as_deref());
    let record = context.app.db.write(revoke).await?;
    let report = report(&context.app, record.of.body.clone().into()).await?;
    let mut revoked = json!({ "at": record.revoked });
    if let Some(reason) = &record.reason {
        revoked["reason"] = reason.as_str().into();
    }
    let credential = record.object()?;
    Ok(Answer::of(&json!({
        "credential": credential,
        "revoked": revoked,
        "verification": report.shown(),
    })))
}

async fn achievements(context: Context) -> Result<Answer> {
    let record = found(&context).await?;
    let achievements = clr::achievements(&record.object()?);
    Ok(Answer::of(&json!({ "achievements": achievements })))
}

async fn versions(context: Context) -> Result<Answer> {
    let (id, base_url) = (context.param("id").to_owned(), context.base_url().to_owned());
    let found = context.app.db.read(move |tx| clr::versions(tx, &base_url, &id)).await?;
    let base = format!("{}{}", context.base_url(), context.uri.path().trim_end_matches('/'));
    let one = |record: &Record| {
        json!({
            "version": record.number,
            "validFrom": record.of.valid_from,
            "created": record.created,
            "href": format!("{base}/{}", record.number),
        })
    };
    Ok(Answer::of(&json!({ "versions": found.iter().map(one).collect::<Vec<_>>() })))
}

async fn version(context: Context) -> Result<Answer> {
    let number = context.param("version");
    let number: i64 = number.parse().map_err(|_| {
        let message = format!(
            "Unknown Object: '{number}' is not a version; versions are whole numbers from 1"
        );
        Problem::new(ProblemKind::NotFound, message)
    })?;
    let (id, base_url) = (context.param("id").to_owned(), context.base_url().to_owned());
    let read = move |tx: &mut Tx<'_>| clr::version(tx, &base_url, &id, number);
    Ok(shown(&context.app.db.read(read).await?))
}

async fn compiled(context: Context) -> Result<Answer> {
    let signer = signer(&context).await?;
    let (id, base_url) = (context.param("id").to_owned(), context.base_url().to_owned());
    let (now, issuer) = (context.app.clock.now(), signer.issuer.profile.clone());
    let compile = move |tx: &mut Tx<'_>| clr::compile(tx, now, &base_url, &issuer, &id);
    let deadline = Duration::from_millis(limits::COURSE_READ_MAX_MS);
    let unsigned = context.app.db.scan(deadline, compile).await?;
    kept(&context, signer, unsigned, Existing::Replaced).await
}
