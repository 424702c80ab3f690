//! Callers with a secret that this server keeps as a hash: a session of a person, or an API key.

use std::collections::HashSet;

use lyceum_core::Result;
use lyceum_core::config::Environment;
use lyceum_core::language::Language;
use lyceum_core::time::Timestamp;
use lyceum_store::Tx;

use crate::allowed::{self, Caller, RequestSubject};
use crate::api_key::{self, ApiKey};
use crate::limits;
use crate::person::{self, Person, Role};
use crate::repository::{api_keys, members, sessions};
use crate::scope::Scopes;
use crate::secret;
use crate::session::{self, SessionKind};
use crate::student::{Student, StudentSession};

/// The caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenHolder {
    /// A person who is not a student, by a session.
    Person(Person),
    /// A student, by a session in a browser.
    Student(Student),
    /// A program, by an API key.
    Key(ApiKey),
}

/// The reason why a token or key is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenRejection {
    /// No session of an active account has it.
    Unknown,
    /// No API key has it.
    UnknownKey,
    /// A key of the other environment.
    OtherEnvironment,
    /// The time of the session is over.
    Ended,
    /// The key was revoked.
    Revoked,
    /// A person made the key who may not change its project any more.
    Stopped,
}

impl TokenRejection {
    /// The reason, for the caller.
    pub fn description(self) -> &'static str {
        match self {
            Self::Unknown => "this server does not know the token",
            Self::UnknownKey => "this server does not know the API key",
            Self::OtherEnvironment => "the key belongs to another environment",
            Self::Ended => "the session has ended",
            Self::Revoked => "the key was revoked",
            Self::Stopped => "the person who created the key no longer has access to its project",
        }
    }

    /// Advice to the caller.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Unknown | Self::Ended => "sign in again with `lyceum login`",
            Self::UnknownKey | Self::OtherEnvironment | Self::Revoked | Self::Stopped => {
                "create a key with `lyceum admin key create NAME` on the server, or in the console under API keys"
            }
        }
    }
}

/// Whether a bearer is a secret that the store keeps as a hash, and not a signed token.
pub fn is_stored_secret(bearer: &str) -> bool {
    bearer.starts_with(api_key::PREFIX) || bearer.starts_with(SessionKind::Token.prefix())
}

/// The holder of a bearer token, and whether [`touch`] should record its use.
pub fn of_bearer(
    tx: &mut Tx<'_>,
    now: Timestamp,
    environment: Environment,
    bearer: &str,
) -> Result<Result<(TokenHolder, bool), TokenRejection>> {
    if !bearer.starts_with(api_key::PREFIX) {
        return of_session(tx, now, environment, bearer, SessionKind::Token);
    }
    Ok(match api_keys::find(tx, &secret::hash(bearer))? {
        None => Err(TokenRejection::UnknownKey),
        Some(key) if key.environment != environment => Err(TokenRejection::OtherEnvironment),
        Some(key) if key.revoked.is_some() => Err(TokenRejection::Revoked),
        Some(key) if key.is_stopped => Err(TokenRejection::Stopped),
        Some(key) => {
            let is_stale = key.used.is_none_or(|used| is_stale(used, now));
            Ok((TokenHolder::Key(key), is_stale))
        }
    })
}

/// The person of a session, and whether [`touch`] should record its use.
pub fn of_session(
    tx: &mut Tx<'_>,
    now: Timestamp,
    environment: Environment,
    session: &str,
    sort: SessionKind,
) -> Result<Result<(TokenHolder, bool), TokenRejection>> {
    let Some(found) = sessions::find(tx, &secret::hash(session), sort, environment)? else {
        return Ok(Err(TokenRejection::Unknown));
    };
    let is_in_class = found.class.is_some();
    if !session::is_alive(now, (sort, is_in_class), (found.used, found.expires)) {
        return Ok(Err(TokenRejection::Ended));
    }
    let session = if is_in_class { StudentSession::Class } else { StudentSession::Own };
    let person = person::find(tx, &found.person)?;
    let holder = person.and_then(|person| TokenHolder::of_person(person, session));
    Ok(holder.map(|holder| (holder, is_stale(found.used, now))).ok_or(TokenRejection::Unknown))
}

/// Whether an id is a person's or an API key's, and not a client's.
pub fn is_id(id: &str) -> bool {
    id.starts_with(person::ID_PREFIX) || id.starts_with(api_key::ID_PREFIX)
}

/// The person or key with an id, if they have access: for tokens that they created for others.
pub fn by_id(tx: &mut Tx<'_>, environment: Environment, id: &str) -> Result<Option<TokenHolder>> {
    if id.starts_with(person::ID_PREFIX) {
        let person = person::find(tx, id)?;
        return Ok(person.and_then(|person| TokenHolder::of_person(person, StudentSession::Own)));
    }
    let key = api_keys::by_id(tx, id)?;
    let is_in_force =
        |key: &ApiKey| key.revoked.is_none() && !key.is_stopped && key.environment == environment;
    let key = key.filter(is_in_force);
    Ok(key.map(TokenHolder::Key))
}

/// Notes that a key or session is used.
pub fn touch(tx: &mut Tx<'_>, now: Timestamp, text: &str) -> Result<()> {
    let hash = secret::hash(text);
    match text.starts_with(api_key::PREFIX) {
        true => api_keys::touch(tx, &hash, now),
        false => sessions::touch(tx, &hash, now),
    }
}

fn is_stale(used: Timestamp, now: Timestamp) -> bool {
    used.plus_seconds(limits::LAST_USE_RESOLUTION_S) <= now
}

impl TokenHolder {
    /// The holder of an account's session; `None` if the account is disabled.
    fn of_person(person: Person, session: StudentSession) -> Option<Self> {
        if person.disabled.is_some() {
            return None;
        }
        Some(match person.roster_user.clone() {
            Some(user) => Self::Student(Student { person, user, session }),
            None => Self::Person(person),
        })
    }

    /// Its id, for logs and shares.
    pub fn id(&self) -> &str {
        match self {
            Self::Person(person) | Self::Student(Student { person, .. }) => &person.id,
            Self::Key(key) => &key.id,
        }
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        match self {
            Self::Person(person) | Self::Student(Student { person, .. }) => &person.name,
            Self::Key(key) => &key.name,
        }
    }

    /// Its role.
    pub fn role(&self) -> Role {
        match self {
            Self::Person(person) | Self::Student(Student { person, .. }) => person.role,
            Self::Key(key) => key.role,
        }
    }

    /// The language that its owner has chosen for pages.
    pub fn language(&self) -> Option<Language> {
        match self {
            Self::Person(person) | Self::Student(Student { person, .. }) => person.language,
            Self::Key(_) => None,
        }
    }

    /// The caller for [`allowed::allowed`].
    pub fn caller(&self) -> Caller<'_> {
        match self {
            Self::Person(person) => Caller::Person(person.role, &person.reach),
            Self::Student(student) => Caller::Student(student.session),
            Self::Key(key) => Caller::Key(key.role, key.project.as_deref(), &key.reach),
        }
    }

    /// Its role, apart from [`TokenHolder::may_change`].
    pub fn scopes(&self) -> Scopes {
        self.role().scopes()
    }

    /// Whether it is a person who is a member of the project: what the rule needs from the store.
    pub fn is_member(&self, tx: &mut Tx<'_>, project: &str) -> Result<bool> {
        match self {
            Self::Person(person) => members::is_member(tx, project, &person.id),
            Self::Student(_) | Self::Key(_) => Ok(false),
        }
    }

    /// The slugs of its projects: those that it is a member of, or the one that it is bound to.
    pub fn projects(&self, tx: &mut Tx<'_>) -> Result<Vec<String>> {
        match self {
            Self::Person(person) => members::of_person(tx, &person.id),
            Self::Student(_) => Ok(Vec::new()),
            Self::Key(key) => Ok(key.project.iter().cloned().collect()),
        }
    }

    /// The projects among these that the holder may see and change, found with one statement.
    pub fn changeable<'p>(
        &self,
        tx: &mut Tx<'_>,
        projects: impl Iterator<Item = &'p str>,
    ) -> Result<HashSet<String>> {
        let memberships = match self {
            Self::Person(person) => members::of_person(tx, &person.id)?,
            Self::Student(_) | Self::Key(_) => Vec::new(),
        };
        let is_changeable = |slug: &&str| {
            let is_member = memberships.iter().any(|own| own == slug);
            allowed::on_subject(self.caller(), RequestSubject::Project(slug, is_member)).is_ok()
        };
        Ok(projects.filter(is_changeable).map(str::to_owned).collect())
    }

    /// Whether it may see and change a project that exists.
    pub fn may_change(&self, tx: &mut Tx<'_>, project: &str) -> Result<bool> {
        let is_member = self.is_member(tx, project)?;
        let subject = RequestSubject::Project(project, is_member);
        Ok(allowed::on_subject(self.caller(), subject).is_ok())
    }
}
