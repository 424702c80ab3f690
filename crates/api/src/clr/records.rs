//! Learner records.

use std::time::Duration;

use http::{StatusCode, header};
use lyceum_access::Scope::{
    ClrCredentialReadonly, ClrCredentialUpsert, CredentialsRead, CredentialsWrite,
};
use lyceum_core::text::segment;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_credentials::body;
use lyceum_credentials::clr::{
    self, LearnerRecord, LearnerRecordUpdate, Record, RecordAchievements, RecordVersion,
    RecordVersions, StoreOutcome, UnsignedRecord, Version,
};
use lyceum_credentials::documents::{Credential, RevocationRequest};
use lyceum_credentials::issued::{CredentialForm, Page, SignedCredentials};
use lyceum_credentials::issuer::Signer;
use lyceum_credentials::limits::CLR_MAX_BYTES;
use lyceum_credentials::verify::{Revocation, VerifiedCredential};
use lyceum_http::answer::Answer;
use lyceum_http::etag;
use lyceum_http::route::{Access, ParamPlace, delete, get, post, put};
use lyceum_store::{Tx, run_blocking};
use serde_json::{Value, json};

use super::credentials::{
    MEDIA, PAGED, as_jwt, check_own, is_jws, jws, list_parameters, own_issuer, paged, report,
    signer, since, slice, wants_jws, wants_rsa,
};
use crate::{Context, Route, limits};

pub(super) fn routes() -> Vec<Route> {
    let reads: Access = [ClrCredentialReadonly, CredentialsRead].into();
    let writes: Access = [ClrCredentialUpsert, CredentialsWrite].into();
    let routes =
        [list_routes(reads, writes), record_routes(reads, writes), version_routes(reads, writes)];
    routes.into_iter().flatten().map(Route::within_reach).collect()
}

fn list_routes(reads: Access, writes: Access) -> Vec<Route> {
    vec![
        list_parameters(
            get("/credentials", reads, list)
                .named("getClrCredentials")
                .description("Lists the newest versions of the records in the order in which they became valid."),
        )
        .answers::<SignedCredentials>(200, "The page.")
        .with_headers(PAGED),
        create(
            post("/credentials", writes, |context| posted(context, Existing::Replaced))
                .named("upsertClrCredential")
                .description("Stores a learner record and signs it. If a record with its id exists, this is its new version."),
        )
        .answers::<Credential>(200, "The signed new version."),
        create(
            post("/clr", writes, |context| posted(context, Existing::Conflicts))
                .named("createClr")
                .description("Stores a new learner record and signs it. The same record again changes nothing; another record with its id is a conflict."),
        )
        .answers::<Credential>(200, "The same record is stored already."),
    ]
}

fn create(route: Route) -> Route {
    route
        .reads_as(MEDIA)
        .reads::<LearnerRecord>()
        .reads_up_to(CLR_MAX_BYTES)
        .answers::<Credential>(201, "The signed record.")
        .answers_empty(
            304,
            "Another server signed the record, and the stored version is not older.",
        )
}

async fn list(context: Context) -> Result<Answer> {
    let slice = slice(&context)?;
    let page = Page {
        limit: slice.limit,
        offset: slice.offset,
        since: since(&context).await?,
        learner: None,
        reach: context.reach(),
    };
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    let (found, total) = context.app.db.scan(deadline, move |tx| clr::list(tx, &page)).await?;
    let texts = found.iter().map(|record| (record.of.form, record.of.body.as_str()));
    Ok(paged(Answer::of(&SignedCredentials::of(texts)?), &context, &slice, total))
}

/// The treatment of a sent record if one with the same id exists.
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
    let record = body::parse(&context.body)?;
    if body::has_proof(&record) {
        return upserted(&context, clr::signed(&record, context.text()?.trim())?).await;
    }
    let record: LearnerRecord = lyceum_core::body::of(record.into())?;
    let signer = signer(&context).await?;
    let unsigned = unsigned(&context, &signer, record).await?;
    sign_and_store(&context, signer, unsigned, existing).await
}

fn record_routes(reads: Access, writes: Access) -> Vec<Route> {
    vec![
        get("/clr/{id}", reads, read)
            .named("getClr")
            .description("Reads the newest version of a record.")
            .param(ParamPlace::Query, "as", json!({ "enum": ["given"] }), "given answers the record as it was sent.")
            .param(ParamPlace::Query, "format", json!({ "enum": ["json", "jwt"] }), "jwt answers the record as a JWT.")
            .param(ParamPlace::Query, "alg", json!({ "enum": ["EdDSA", "RS256"] }), "The algorithm of the JWT.")
            .answers::<Credential>(200, "The record."),
        put("/clr/{id}", writes, updated)
            .of_version()
            .named("updateClr")
            .description("Adds achievements to a record or changes them, and signs the new version. A deleted record is restored.")
            .reads::<LearnerRecordUpdate>()
            .reads_up_to(CLR_MAX_BYTES)
            .answers::<Credential>(200, "The signed new version."),
        delete("/clr/{id}", writes, deleted)
            .of_version()
            .named("deleteClr")
            .description("Deletes a record. Copies of the record stay valid unless it was revoked before.")
            .answers_empty(204, "The record was deleted. PUT restores it."),
        post("/clr/{id}/revoke", writes, revoked)
            .named("revokeClr")
            .description("Revokes a record that this server signed, with all of its versions, permanently.")
            .reads::<RevocationRequest>()
            .answers::<VerifiedCredential>(200, "The record is revoked, now or since before."),
    ]
}

async fn read(context: Context) -> Result<Answer> {
    let record = find(&context).await?;
    if context.query_value("as").as_deref() == Some("given") {
        return Ok(match record.of.form {
            CredentialForm::Json => Answer::json(record.of.sent),
            CredentialForm::Jws => jws(&context, record.of.sent),
        });
    }
    if !wants_jws(&context) || record.of.form == CredentialForm::Jws {
        return Ok(answer_of(&context, &record));
    }
    let credential = Value::Object(record.object()?);
    let Some(issuer) = own_issuer(&context, &record.of.body).await? else {
        let message = "the record was signed elsewhere with an embedded proof; only its issuer can sign \
                       it as a JWT";
        return Err(Problem::invalid("format", message));
    };
    let with_rsa = wants_rsa(&context)?;
    Ok(jws(&context, as_jwt(&context.app, &issuer, credential, with_rsa).await?))
}

async fn updated(context: Context) -> Result<Answer> {
    let sent: LearnerRecordUpdate = body::read(&context.body)?;
    let expected = etag::expected(&context)?;
    let mut tries = 1;
    loop {
        // Signing takes no lock, so another update may come first. One without a precondition is added to that.
        match merged(&context, &sent, expected).await {
            Err(problem)
                if problem.kind == ProblemKind::PreconditionFailed
                    && expected.is_none()
                    && tries < limits::CLR_MERGE_MAX_COUNT =>
            {
                tries += 1;
            }
            done => return done,
        }
    }
}

async fn merged(
    context: &Context,
    sent: &LearnerRecordUpdate,
    expected: Option<i64>,
) -> Result<Answer> {
    let (id, base_url, reach) = request_target(context);
    let find = move |tx: &mut Tx<'_>| clr::found_or_deleted(tx, &base_url, &id, &reach);
    let record = context.app.db.read(find).await?;
    record.expect(expected)?;
    let now = context.app.clock.now();
    let updated = clr::updated(now, &record, sent)?;
    let signer = signer(context).await?;
    let unsigned = unsigned(context, &signer, updated).await?;
    let version = signed(context, signer, unsigned).await?;
    let write = move |tx: &mut Tx<'_>| clr::follow(tx, now, &version, &record);
    Ok(answer_of(context, &context.app.db.write(write).await?))
}

async fn deleted(context: Context) -> Result<Answer> {
    let (id, base_url, reach) = request_target(&context);
    let (now, expected) = (context.app.clock.now(), etag::expected(&context)?);
    let delete = move |tx: &mut Tx<'_>| clr::delete(tx, now, &base_url, &id, expected, &reach);
    context.app.db.write(delete).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

async fn revoked(context: Context) -> Result<Answer> {
    let reason = context.body_as::<RevocationRequest>()?.reason();
    let ((id, base_url, reach), now) = (request_target(&context), context.app.clock.now());
    let revoke =
        move |tx: &mut Tx<'_>| clr::revoke(tx, now, &base_url, &id, reason.as_deref(), &reach);
    let record = context.app.db.write(revoke).await?;
    let report = report(&context.app, record.of.body.clone().into()).await?;
    Ok(Answer::of(&VerifiedCredential {
        credential: record.object()?.into(),
        revoked: record.revoked.map(|at| Revocation { at, reason: record.reason }),
        ..report.into()
    }))
}

fn version_routes(reads: Access, writes: Access) -> Vec<Route> {
    vec![
        get("/clr/{id}/achievements", reads, achievements)
            .named("getClrAchievements")
            .description("Lists the achievements of a record and of the credentials in it, each once.")
            .answers::<RecordAchievements>(200, "The achievements."),
        get("/clr/{id}/versions", reads, versions)
            .named("getClrVersions")
            .description("Lists the versions of a record, the newest first.")
            .answers::<RecordVersions>(200, "The versions."),
        get("/clr/{id}/versions/{version}", reads, version)
            .named("getClrVersion")
            .description("Reads a version of a record by its number.")
            .answers::<Credential>(200, "The version as it was signed."),
        post("/clr/{id}/compile", writes, compiled)
            .named("compileClr")
            .description("Compiles the badges and results of a learner into a new version of the learner's record. The id is that of the record or of the user.")
            .answers::<Credential>(201, "The new record.")
            .answers::<Credential>(200, "The new version of the record."),
    ]
}

async fn achievements(context: Context) -> Result<Answer> {
    let record = find(&context).await?;
    Ok(Answer::of(&RecordAchievements::of(&record.object()?)))
}

async fn versions(context: Context) -> Result<Answer> {
    let (id, base_url, reach) = request_target(&context);
    let found = context.app.db.read(move |tx| clr::versions(tx, &base_url, &id, &reach)).await?;
    let base = format!("{}{}", context.base_url(), context.uri.path().trim_end_matches('/'));
    let versions = found.iter().map(|record| RecordVersion::of(record, &base)).collect();
    Ok(Answer::of(&RecordVersions { versions }))
}

async fn version(context: Context) -> Result<Answer> {
    let number = context.param("version");
    let number: i64 = number.parse().map_err(|_| {
        let message = message!(
            "Unknown Object: '{number}' is not a version; versions are whole numbers from 1"
        );
        Problem::new(ProblemKind::NotFound, message)
    })?;
    let (id, base_url, reach) = request_target(&context);
    let read = move |tx: &mut Tx<'_>| clr::version(tx, &base_url, &id, number, &reach);
    Ok(answer_of(&context, &context.app.db.read(read).await?))
}

async fn compiled(context: Context) -> Result<Answer> {
    let signer = signer(&context).await?;
    let (id, base_url, reach) = request_target(&context);
    let (now, issuer) = (context.app.clock.now(), signer.issuer.profile.clone());
    let compile = move |tx: &mut Tx<'_>| clr::compile(tx, now, &base_url, &issuer, &id, &reach);
    let deadline = Duration::from_millis(limits::COURSE_READ_MAX_MS);
    let unsigned = context.app.db.scan(deadline, compile).await?;
    sign_and_store(&context, signer, unsigned, Existing::Replaced).await
}

/// The unsigned record.
async fn unsigned(
    context: &Context,
    signer: &Signer,
    record: LearnerRecord,
) -> Result<UnsignedRecord> {
    let (now, base_url) = (context.app.clock.now(), context.base_url().to_owned());
    let (profile, reach) = (signer.issuer.profile.clone(), context.reach());
    let read = move |tx: &mut Tx<'_>| clr::unsigned(tx, now, &base_url, &profile, &record, &reach);
    context.app.db.read(read).await
}

/// The signed record, with its entry in a status list.
async fn signed(context: &Context, signer: Signer, unsigned: UnsignedRecord) -> Result<Version> {
    let (base_url, issuer) = (context.base_url().to_owned(), signer.issuer.clone());
    let place = move |tx: &mut Tx<'_>| clr::placed(tx, &base_url, &issuer, unsigned.clone());
    let unsigned = context.app.db.write(place).await?;
    let now = context.app.clock.now();
    run_blocking(move || unsigned.sign(&signer, now)).await
}

/// Stores a record that another issuer signed, and returns it unchanged.
async fn upserted(context: &Context, version: Version) -> Result<Answer> {
    check_own(context, &version.body, own_issuer(context, &version.body).await?).await?;
    let (form, body) = (version.form, version.body.clone());
    let (now, reach) = (context.app.clock.now(), context.reach());
    let outcome = context.app.db.write(move |tx| clr::upsert(tx, now, &version, &reach)).await?;
    let status = match outcome {
        StoreOutcome::Created => StatusCode::CREATED,
        StoreOutcome::Updated => StatusCode::OK,
        StoreOutcome::Unchanged => return Ok(Answer::empty(StatusCode::NOT_MODIFIED)),
    };
    Ok(match form {
        CredentialForm::Json => Answer::json(body),
        CredentialForm::Jws => jws(context, body),
    }
    .status(status))
}

/// Signs and stores a record.
async fn sign_and_store(
    context: &Context,
    signer: Signer,
    unsigned: UnsignedRecord,
    existing: Existing,
) -> Result<Answer> {
    let version = signed(context, signer, unsigned).await?;
    let (now, reach) = (context.app.clock.now(), context.reach());
    let store = move |tx: &mut Tx<'_>| match existing {
        Existing::Replaced => clr::put(tx, now, &version, &reach),
        Existing::Conflicts => clr::create(tx, now, &version, &reach),
    };
    let (record, outcome) = context.app.db.write(store).await?;
    let status = match outcome {
        StoreOutcome::Created => StatusCode::CREATED,
        StoreOutcome::Updated | StoreOutcome::Unchanged => StatusCode::OK,
    };
    let location = format!("{}/ims/clr/v2p0/clr/{}", context.base_url(), segment(&record.of.id));
    Ok(answer_of(context, &record).status(status).header(header::LOCATION, location))
}

/// A record in its signed form.
fn answer_of(context: &Context, record: &Record) -> Answer {
    match record.of.form {
        CredentialForm::Json => Answer::json(record.of.body.clone()),
        CredentialForm::Jws => jws(context, record.of.body.clone()),
    }
    .header(header::ETAG, etag::tag(record.number))
}

/// The id in the path, the address of the server, and the caller's reach.
fn request_target(context: &Context) -> (String, String, Reach) {
    (context.param("id").to_owned(), context.base_url().to_owned(), context.reach())
}

async fn find(context: &Context) -> Result<Record> {
    let (id, base_url, reach) = request_target(context);
    context.app.db.read(move |tx| clr::require(tx, &base_url, &id, &reach)).await
}
