//! The courses that games teach if another server has the roster: the same requests, applied to the records there.

use std::collections::HashMap;
use std::sync::Arc;

use http::StatusCode;
use lyceum_client::Client;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_games::games::Game;
use lyceum_games::lms::{
    self, CheckedCourse, CheckedRecord, Integration, IntegrationSetup, LearnerAccount,
    LearnerCourse, NeededRecord, RecordState,
};
use lyceum_http::answer::Answer;
use lyceum_roster::fields;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{ORG, USER};
use lyceum_roster::record::Object;
use lyceum_store::{Db, Tx};

use super::lms::{SetUp, config_of, is_dry, verification};
use super::play::GameRequest;
use crate::Context;
use crate::learning::RemoteLearning;

/// The path of a record kind.
fn collection(kind: &RecordKind) -> String {
    format!("{}/{}", kind.service.prefix(), kind.path)
}

impl RemoteLearning {
    async fn record(&self, kind: &RecordKind, id: &str) -> Result<Option<Object>> {
        self.client.record(&collection(kind), id).await
    }

    async fn put(&self, NeededRecord { kind, id, record }: &NeededRecord) -> Result<()> {
        self.client.put(&collection(kind), kind.one, id, record.clone()).await
    }

    /// The demo user's record on the other server.
    ///
    /// Errors: `NotFound` if there is no active one.
    pub(super) async fn student(&self) -> Result<Object> {
        let found = self.record(&USER, &self.student).await?;
        found.filter(|user| RecordState::of(Some(user)) == RecordState::Ok).ok_or_else(|| {
            let message = message!(
                "the learning platform has no active user '{self.student}'; `lyceum lms setup` makes one where it \
                 is local, else name one that it has with --tracking-student-id"
            );
            Problem::new(ProblemKind::NotFound, message)
        })
    }

    /// The demo user on the other server, in the configured role, with courses and organizations.
    pub(super) async fn learner(&self) -> Result<LearnerAccount> {
        let user = self.student().await?;
        let mut orgs = HashMap::new();
        for id in lms::organizations(&user).filter(|id| !id.is_empty()) {
            if let Some(org) = self.record(&ORG, id).await? {
                orgs.insert(id.to_owned(), org);
            }
        }
        let enrollments = self.client.enrollments(&self.student).await?.unwrap_or_default();
        let enrolled =
            enrollments.iter().map(|it| LearnerCourse::of(&it.course, &it.subject, &it.grade));
        let mut learner = LearnerAccount::of(&self.student, &user, &orgs, enrolled.collect());
        if let Some((role, _)) = self.role {
            role.clone_into(&mut learner.role);
        }
        Ok(learner)
    }

    /// Checks which records that the integration needs exist there, including the student and the enrollments.
    async fn check(&self, game: &Game, integration: &Integration) -> Result<Vec<CheckedCourse>> {
        let mut resources = Vec::new();
        let user = CheckedRecord {
            kind: USER.one,
            id: self.student.clone(),
            state: RecordState::of(self.record(&USER, &self.student).await?.as_ref()),
        };
        let enrollments = self.client.enrollments(&self.student).await?.unwrap_or_default();
        for (course, needed) in integration.courses.iter().zip(lms::needed(game, integration)) {
            let mut found = Vec::new();
            for NeededRecord { kind, id, .. } in needed {
                let state = RecordState::of(self.record(kind, &id).await?.as_ref());
                found.push(CheckedRecord { kind: kind.one, id, state });
            }
            found.push(user.clone());
            let enrollment = enrollments.iter().find(|it| it.course == course.course_id);
            let wanted = || format!("{} in {}", self.student, course.course_id);
            found.push(CheckedRecord {
                kind: "enrollment",
                id: enrollment.map_or_else(wanted, |it| it.id.clone()),
                state: if enrollment.is_some() { RecordState::Ok } else { RecordState::Missing },
            });
            resources.push(lms::checked(course, found));
        }
        Ok(resources)
    }

    /// Creates the missing records of an integration, updates those that its setups created, and enrolls the student.
    /// Records that existed before a setup are not changed.
    async fn make(&self, db: &Db, game: &Game, integration: &Integration) -> Result<()> {
        for one in lms::needed(game, integration).into_iter().flatten() {
            let found = self.record(one.kind, &one.id).await?;
            // A setup never changes an existing org, not even its own.
            if one.kind.one == ORG.one && RecordState::of(found.as_ref()) == RecordState::Ok {
                continue;
            }
            let (platform, game) = (self.client.roster_url().to_owned(), game.clone());
            let one = Arc::new(one);
            let its = Arc::clone(&one);
            if found.is_none() {
                self.put(&one).await?;
                let note =
                    move |tx: &mut Tx<'_>| lms::note_created_elsewhere(tx, &platform, &game, &its);
                db.write(note).await?;
                continue;
            }
            let is_created =
                move |tx: &mut Tx<'_>| lms::is_created_elsewhere(tx, &platform, &game, &its);
            if db.read(is_created).await? {
                self.put(&one).await?;
            }
        }
        self.make_student().await?;
        let role = self.role.map_or(Some("student"), |(_, in_class)| in_class);
        for course in &integration.courses {
            let school = &integration.organization.id;
            if let Some(role) = role {
                self.client.enroll(&self.student, &course.course_id, school, role).await?;
            }
        }
        Ok(())
    }

    /// Creates the student if this sandbox is responsible for the student's record.
    async fn make_student(&self) -> Result<()> {
        let Some(record) = &self.made else { return self.student().await.map(drop) };
        if RecordState::of(self.record(&USER, &self.student).await?.as_ref()) == RecordState::Ok {
            return Ok(());
        }
        let own = lms::organization_of_setup(&self.organization);
        if RecordState::of(self.record(&ORG, &own.id).await?.as_ref()) != RecordState::Ok {
            self.put(&lms::organization(&own)).await?;
        }
        self.client.put(&collection(&USER), USER.one, &self.student, record.clone()).await
    }
}

/// The game that a request names, and its integration.
pub(super) async fn taught_course(
    play: &Arc<GameRequest>,
    in_body: Option<String>,
) -> Result<(Game, Integration)> {
    let reading = Arc::clone(play);
    let read = move |tx: &mut Tx<'_>| {
        reading.present(tx)?;
        let game = reading.game_or(tx, in_body.as_deref())?;
        let integration = lms::find(tx, &game)?;
        Ok((game, integration))
    };
    play.context.app.db.read(read).await
}

/// The integration with the organization that exists there.
async fn with_organization_name(
    client: &Client,
    mut integration: Integration,
) -> Result<Integration> {
    let id = integration.organization.id.clone();
    if let Some(org) = client.record(&collection(&ORG), &id).await? {
        integration.organization = lms::organization_of_record(&id, &org);
    }
    Ok(integration)
}

pub(super) async fn check_resources(
    context: Context,
    other: Arc<RemoteLearning>,
) -> Result<Answer> {
    let (_, integration) = taught_course(&Arc::new(GameRequest::of(context)?), None).await?;
    Ok(Answer::of(&with_organization_name(&other.client, integration).await?))
}

pub(super) async fn config(context: Context, other: Arc<RemoteLearning>) -> Result<Answer> {
    let (_, integration) = taught_course(&Arc::new(GameRequest::of(context)?), None).await?;
    Ok(Answer::of(&config_of(with_organization_name(&other.client, integration).await?)))
}

pub(super) async fn verified(context: Context, other: Arc<RemoteLearning>) -> Result<Answer> {
    let (game, integration) = taught_course(&Arc::new(GameRequest::of(context)?), None).await?;
    let checked = other.check(&game, &integration).await?;
    Ok(Answer::of(&verification(&game, checked)))
}

pub(super) async fn set_up(context: Context, other: Arc<RemoteLearning>) -> Result<Answer> {
    let mut setup: IntegrationSetup = context.body_as()?;
    if setup.organization.id.is_none() {
        setup.organization = other.organization.clone();
    }
    let is_dry = is_dry(&context)?;
    let play = Arc::new(GameRequest::of(context)?);
    let db = play.context.app.db.clone();
    let planning = move |tx: &mut Tx<'_>| {
        play.present(tx)?;
        let game = play.game_or(tx, setup.game_id.as_deref())?;
        let planned = lms::plan_integration(&game, &setup)?;
        Ok((game, planned))
    };
    let (game, planned) = db.read(planning).await?;
    let planned = with_organization_name(&other.client, planned).await?;
    if is_dry {
        let found = Some(other.check(&game, &planned).await?);
        return Ok(Answer::of(&SetUp { integration: planned, found }));
    }
    let _turn = other.turn.lock().await;
    other.make(&db, &game, &planned).await?;
    let answer = Answer::of(&planned);
    db.write(move |tx| lms::store_courses(tx, &planned)).await?;
    Ok(answer)
}

pub(super) async fn deleted(context: Context, other: Arc<RemoteLearning>) -> Result<Answer> {
    let play = Arc::new(GameRequest::of(context)?);
    let (game, integration) = taught_course(&play, None).await?;
    let platform = other.client.roster_url().to_owned();
    let of_game = move |tx: &mut Tx<'_>| {
        let mut created = Vec::new();
        for needed in lms::needed(&game, &integration) {
            // Delete records before those that they refer to. The organization does not belong to the game.
            for one in needed.into_iter().skip(1).rev() {
                if lms::is_created_elsewhere(tx, &platform, &game, &one)? {
                    created.push(one);
                }
            }
        }
        Ok((game.clone(), created))
    };
    let (game, created) = play.context.app.db.read(of_game).await?;
    for NeededRecord { kind, id, .. } in created {
        other.client.delete(&collection(kind), &id).await?;
    }
    play.context.app.db.write(move |tx| lms::forget(tx, &game)).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

/// Refuses users other than the demo user, because only the demo user is a student there.
///
/// Errors: `Forbidden`; `Invalid` if the request names no user.
pub(super) fn only_the_student(
    play: &GameRequest,
    other: &RemoteLearning,
    in_body: Option<&str>,
) -> Result<String> {
    let user = play.named()?;
    let sandbox = play.context.app.sandbox.as_ref();
    let is_demo = sandbox.is_some_and(|sandbox| sandbox.demo_user() == Some(user));
    let is_named = in_body.is_none_or(|named| named == user || named == other.student);
    if is_demo && is_named {
        return Ok(user.to_owned());
    }
    let message = message!(
        "only the demo user learns with another platform, as '{other.student}' there; name no other student"
    );
    Err(super::play::forbidden(message))
}

/// The record's e-mail address; empty if it has none.
pub(super) fn email(user: &Object) -> String {
    fields::text(user, "email").to_owned()
}
