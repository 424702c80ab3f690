//! Players: users of the roster, with what the platform knows of them beside.

use lyceum_core::{Problem, ProblemKind, Result};
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_roster::record::Object;
use lyceum_store::Tx;
use serde::Serialize;

use crate::repository;

/// What a user may do on the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Plays.
    Player,
    /// Makes games.
    Developer,
    /// Runs the platform.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Player, Self::Developer, Self::Admin];

    /// The role of that name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Developer => "developer",
            Self::Admin => "admin",
        }
    }
}

/// A player as others see one.
#[derive(Clone, Debug, Serialize)]
pub struct Seen {
    /// The user's sourcedId.
    pub id: String,
    /// What the user is called in games.
    pub username: String,
}

/// A player as the player is shown.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// What others see, too.
    #[serde(flatten)]
    pub seen: Seen,
    /// Given and family name.
    pub name: String,
    /// Empty where the roster has none.
    pub email: String,
    /// What the user may do on the platform.
    pub role: Role,
    /// `none`, `pending` or `approved`.
    pub developer_status: String,
}

/// The roster's record of the user whom a token names.
///
/// Errors: `Unauthorized` where the user is not active any more.
pub fn present(tx: &mut Tx<'_>, user: &str) -> Result<Object> {
    fields::in_use(tx, &USER, user).map_err(|problem| match problem.kind {
        ProblemKind::NotFound => Problem::new(
            ProblemKind::Unauthorized,
            format!("there is no active user '{user}' here; get a token for one who is"),
        ),
        _ => problem,
    })
}

/// A player, whole. Errors: `NotFound`.
pub fn profile(tx: &mut Tx<'_>, user: &str) -> Result<Profile> {
    let record = found(tx, user)?;
    let (role, developer_status) = repository::players::standing(tx, user)?;
    let name = [fields::text(&record, "givenName"), fields::text(&record, "familyName")].join(" ");
    Ok(Profile {
        seen: seen_in(user, &record),
        name: name.trim().to_owned(),
        email: fields::text(&record, "email").to_owned(),
        role,
        developer_status,
    })
}

/// A player as others see one. Errors: `NotFound`.
pub fn seen(tx: &mut Tx<'_>, user: &str) -> Result<Seen> {
    let record = found(tx, user)?;
    Ok(seen_in(user, &record))
}

/// Gives a user a role on the platform.
pub fn put_role(tx: &mut Tx<'_>, user: &str, role: Role) -> Result<()> {
    let status = if role == Role::Player { "none" } else { "approved" };
    repository::players::put_standing(tx, user, role, status)
}

/// What a user is called in games: never an e-mail address or a family name, which are nobody
/// else's business.
pub(crate) fn username(record: &Object) -> &str {
    let chosen = fields::text(record, "username");
    if chosen.is_empty() || chosen.contains('@') {
        fields::text(record, "givenName")
    } else {
        chosen
    }
}

fn seen_in(user: &str, record: &Object) -> Seen {
    Seen { id: user.to_owned(), username: username(record).to_owned() }
}

fn found(tx: &mut Tx<'_>, user: &str) -> Result<Object> {
    fields::in_use(tx, &USER, user).map_err(|problem| match problem.kind {
        ProblemKind::NotFound => {
            Problem::new(ProblemKind::NotFound, format!("there is no user '{user}'"))
        }
        _ => problem,
    })
}
