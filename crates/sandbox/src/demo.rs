//! The demo data of a sandbox: a user, the project as a game, and some content.

use lyceum_access::Player;
use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Reach, Result};
use lyceum_games::games::{self, Game, NewGame};
use lyceum_games::lms::{
    self, IntegrationSetup, IntegrationSetupCourse, IntegrationSetupOrganization,
};
use lyceum_games::notifications::{self, NewNotification};
use lyceum_games::{achievements, inventory, players, scores};
use lyceum_project::{Course, slug_of};
use lyceum_roster::collections::at;
use lyceum_roster::kind::RecordKind;
use lyceum_roster::kinds::{ORG, USER};
use lyceum_roster::record::Object;
use lyceum_roster::repository;
use lyceum_roster::write::{self, WriteRules};
use lyceum_store::Tx;
use serde_json::{Value, json};

use crate::history;
use crate::mode::SchoolRole;

/// The demo user's sourcedId.
pub const USER_ID: &str = "demo-user";
/// The default sourcedId of the organization.
pub(crate) const ORGANIZATION_ID: &str = "demo-org";
const CREDITS: i64 = 1000;
/// XP of a course in the mock roster if the config does not set them.
const MADE_UP_XP: f64 = 1000.0;
/// Other players: sourcedId, first name, best score.
const OTHERS: [(&str, &str, i64); 3] =
    [("demo-nova", "Nova", 1200), ("demo-milo", "Milo", 950), ("demo-ines", "Ines", 400)];

/// The demo user's learning.
#[derive(Clone, Debug, Default)]
pub struct DemoLearner {
    /// The user's role at the school.
    pub role: SchoolRole,
    /// The user's organization.
    pub organization: crate::mode::DemoOrganization,
    /// The courses; empty in a sandbox that uses another platform.
    pub courses: Vec<Course>,
    /// The id of the first course, instead of a generated one.
    pub course_id: Option<String>,
    /// Whether the courses' records are on another server.
    pub elsewhere: bool,
    /// The demo user's sourcedId, if it is not [`USER_ID`].
    pub student_id: Option<String>,
}

impl DemoLearner {
    /// The demo user's sourcedId.
    fn user(&self) -> &str {
        self.student_id.as_deref().unwrap_or(USER_ID)
    }
}

/// The demo data to write.
#[derive(Clone, Debug)]
pub struct Demo {
    /// The project under development.
    pub project: NewGame,
    /// The user's role on the platform.
    pub role: players::PlayerRole,
    /// Whether to add more than the user and the project.
    pub seeds: bool,
    /// The courses and organization of the user.
    pub learner: DemoLearner,
}

impl Demo {
    /// Writes the demo data. Existing data stays, including what the user has changed; role,
    /// organization, courses and project follow the current options.
    ///
    /// Errors: `Invalid` if the roster or the platform rejects something.
    pub fn put(&self, tx: &mut Tx<'_>, now: Timestamp, base_url: &str) -> Result<Player> {
        let user = self.learner.user();
        let is_new = repository::find(tx, &USER, user)?.is_none();
        let org = self.put_people(tx, now)?;
        players::put_role(tx, user, self.role)?;
        let game = games::put_mock(tx, now, self.project.clone())?;
        self.put_courses(tx, now, &org, &game)?;
        if self.seeds {
            if is_new {
                give_starting_items(tx, now, user)?;
                let DemoLearner { role, courses, elsewhere, .. } = &self.learner;
                if *role == SchoolRole::Student && !courses.is_empty() && !elsewhere {
                    history::put(tx, now, base_url, &game, user)?;
                }
            }
            put_company(tx, now, (&org, user), &game.id)?;
        }
        Ok(Player { user: user.to_owned(), game: game.id })
    }

    /// Writes the organization and the user; returns the organization's sourcedId.
    fn put_people(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<String> {
        let DemoLearner { role, organization, .. } = &self.learner;
        let IntegrationSetupOrganization { id, name, kind } = organization.whole();
        let org = id.unwrap_or_default();
        put(tx, now, &ORG, &org, json!({ "name": name, "type": kind }))?;
        put(tx, now, &USER, self.learner.user(), user(&org, "Demo", role.word()))?;
        Ok(org)
    }

    /// Writes the project's courses under generated ids, and enrolls the user in each.
    fn put_courses(&self, tx: &mut Tx<'_>, now: Timestamp, org: &str, game: &Game) -> Result<()> {
        let DemoLearner { courses, elsewhere, .. } = &self.learner;
        if *elsewhere {
            return self.put_courses_of_others(tx, org, game);
        }
        if courses.is_empty() {
            return Ok(());
        }
        let courses = self.new_courses(|course| {
            let total_xp = course.total_xp.filter(|xp| *xp > 0.0).or(Some(MADE_UP_XP));
            (total_xp, Some(course_id(course)))
        });
        let organization =
            IntegrationSetupOrganization { id: Some(org.to_owned()), ..Default::default() };
        let setup = IntegrationSetup { game_id: None, organization, courses };
        let former = lms::lookup(tx, game)?;
        let integration = lms::set_up(tx, now, game, &setup, lms::WritableRecords::All)?;
        lms::enrol(tx, now, self.learner.user(), former.as_ref(), &integration)
    }
}

impl Demo {
    /// Stores the project's courses if another server has their records, which setup creates and verify checks.
    /// Courses with unknown XP also wait for the setup.
    fn put_courses_of_others(&self, tx: &mut Tx<'_>, org: &str, game: &Game) -> Result<()> {
        if lms::is_here(tx, game)? {
            lms::forget(tx, game)?;
        }
        let mut courses = self.new_courses(|course| (course.total_xp, None));
        courses.retain(|course| course.total_xp.is_some());
        if courses.is_empty() {
            return Ok(());
        }
        let organization =
            IntegrationSetupOrganization { id: Some(org.to_owned()), ..Default::default() };
        let setup = IntegrationSetup { game_id: None, organization, courses };
        lms::store_courses(tx, &lms::plan_integration(game, &setup)?)
    }

    /// The courses with their XP and ids. The first one has the id from the options, if it is set.
    fn new_courses(
        &self,
        xp_and_id: impl Fn(&Course) -> (Option<f64>, Option<String>),
    ) -> Vec<IntegrationSetupCourse> {
        let DemoLearner { courses, course_id: first, .. } = &self.learner;
        let new = |(number, course): (usize, &Course)| {
            let (total_xp, id) = xp_and_id(course);
            IntegrationSetupCourse {
                subject: course.subject.clone(),
                grade: course.grade.as_str().into(),
                total_xp,
                masterable_units: course.masterable_units,
                title: course.title.clone(),
                course_code: course.course_code.clone(),
                course_id: first.clone().filter(|_| number == 0).or(id),
            }
        };
        courses.iter().enumerate().map(new).collect()
    }
}

/// The record of the demo user as a student of the organization.
pub fn student(id: &str, org: &str) -> Object {
    let Value::Object(mut record) = user(org, "Demo", SchoolRole::Student.word()) else {
        unreachable!("records are objects")
    };
    record.insert("sourcedId".into(), id.into());
    record.insert("status".into(), "active".into());
    record
}

/// The id of a generated course. It is the same for equal subject and grade.
fn course_id(course: &Course) -> String {
    format!("mock-{}-{}", slug_of(&course.subject), course.grade.to_lowercase())
}

fn user(org: &str, name: &str, role: &str) -> Value {
    let username = name.to_lowercase();
    json!({
        "enabledUser": true,
        "username": username,
        "givenName": name,
        "familyName": "Sandbox",
        "email": format!("{username}@example.org"),
        "primaryOrg": { "sourcedId": org },
        "roles": [{ "roleType": "primary", "role": role, "org": { "sourcedId": org } }],
    })
}

/// Gives the user an inventory, a level and a notification to start with.
fn give_starting_items(tx: &mut Tx<'_>, now: Timestamp, user: &str) -> Result<()> {
    inventory::credit(tx, now, user, CREDITS)?;
    let news = NewNotification {
        kind: "welcome",
        title: "Welcome to the sandbox".to_owned(),
        message: "You are the demo user; everything you do stays in this sandbox".to_owned(),
        metadata: json!({ "credits": CREDITS }),
    };
    notifications::notify(tx, now, user, news)
}

/// Writes achievements, and other players with scores.
fn put_company(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (org, demo): (&str, &str),
    game: &str,
) -> Result<()> {
    // Only an app knows what its players achieve, so the descriptions name the call. Without rewards in XP, the player's
    // level has the same XP as the player's learning.
    let goals = [
        (
            "first-steps",
            json!({"title": "First steps", "description": "Your app unlocks it: achievements.unlock('first-steps')", "creditsReward": 10}),
        ),
        (
            "practice",
            json!({"title": "Practice", "description": "Unlocked when your app reports 10: achievements.progress('practice', 10)", "goal": 10, "creditsReward": 50}),
        ),
        (
            "flawless",
            json!({"title": "Flawless", "description": "Your app unlocks it: achievements.unlock('flawless')", "creditsReward": 25}),
        ),
    ];
    if !achievements::of_user(tx, game, demo)?.is_empty() {
        return Ok(());
    }
    for (name, goal) in goals {
        let goal = lyceum_core::body::read(goal.to_string().as_bytes())?;
        achievements::define(tx, game, name, goal)?;
    }
    for (id, name, score) in OTHERS {
        put(tx, now, &USER, id, user(org, name, "student"))?;
        let score = lyceum_core::body::read(json!({ "score": score }).to_string().as_bytes())?;
        scores::submit(tx, now, game, id, score)?;
    }
    Ok(())
}

/// Creates the record with this id, or replaces it.
fn put(tx: &mut Tx<'_>, now: Timestamp, kind: &RecordKind, id: &str, record: Value) -> Result<()> {
    let Value::Object(mut record) = record else { unreachable!("records are objects") };
    record.insert("sourcedId".into(), id.into());
    let rules = WriteRules {
        dialect: PayloadDialect::Platform,
        now,
        allocate_missing_ids: false,
        reach: Reach::Everything,
    };
    let collection = at(kind.path).expect("every kind has a collection");
    write::put(tx, collection, id, record, None, true, &rules).map(drop)
}
