//! Players: users of the roster and visitors, with the platform's data about them.

use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_roster::record::Object;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Serialize;

use crate::input::PageRequest;
use crate::visible_games::VisibleGames;
use crate::visitors::Visitor;
use crate::{repository, visitors};

pub use crate::repository::players::PlayerRole;

/// A player as other players see them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlayerName {
    /// The user's sourcedId.
    pub id: String,
    /// The user's name in games.
    pub username: String,
}

/// A player as they see themselves.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlayerProfile {
    /// The data that others also see.
    #[serde(flatten)]
    pub player: PlayerName,
    /// Given and family name.
    pub name: String,
    /// Empty if the roster has none.
    pub email: String,
    /// The user's role on the platform.
    pub role: PlayerRole,
    /// `none`, `pending` or `approved`.
    pub developer_status: String,
}

/// The name and role of a player, from the roster or of a visitor.
#[derive(Clone, Debug)]
pub struct PlayerIdentity {
    /// The user's sourcedId, or the visitor's id.
    pub id: String,
    /// The player's name in games.
    pub username: String,
    /// Given name; empty if there is none or it is not shared.
    pub given_name: String,
    /// Family name; empty if there is none or it is not shared.
    pub family_name: String,
    /// Email address; empty if there is none or it is not shared.
    pub email: String,
    /// Whether the player is a visitor, who is not in the roster and so has no courses.
    pub is_visitor: bool,
    /// The only game that a demo visitor may play.
    pub demo_of: Option<String>,
}

impl PlayerIdentity {
    fn of_user(id: &str, record: &Object) -> Self {
        let text = |name: &str| fields::text(record, name).to_owned();
        Self {
            id: id.to_owned(),
            username: username(record).to_owned(),
            given_name: text("givenName"),
            family_name: text("familyName"),
            email: text("email"),
            is_visitor: false,
            demo_of: None,
        }
    }

    fn of_visitor(visitor: Visitor) -> Self {
        let (given_name, family) = visitor.name.split_once(' ').unwrap_or((&visitor.name, ""));
        Self {
            given_name: given_name.to_owned(),
            family_name: family.trim().to_owned(),
            id: visitor.id,
            username: visitor.username,
            email: visitor.email,
            is_visitor: true,
            demo_of: visitor.game,
        }
    }

    /// The player without names and email address, for a game to which they are not shared.
    #[must_use]
    pub fn without_name(self) -> Self {
        let (given_name, family_name, email) = (String::new(), String::new(), String::new());
        Self { given_name, family_name, email, ..self }
    }

    /// Given and family name; the username if both are empty.
    pub fn name(&self) -> String {
        let name = format!("{} {}", self.given_name, self.family_name);
        match name.trim() {
            "" => self.username.clone(),
            name => name.to_owned(),
        }
    }
}

/// The user or visitor named in a token.
///
/// Errors: `Unauthorized` if the user is no longer active, or the visitor was purged.
pub fn present(tx: &mut Tx<'_>, user: &str) -> Result<PlayerIdentity> {
    identity_of(tx, user).map_err(|problem| match problem.kind {
        ProblemKind::NotFound => Problem::new(
            ProblemKind::Unauthorized,
            message!("there is no active user '{user}'; get a token for an active one"),
        ),
        _ => problem,
    })
}

/// A player's own profile, without name and email address unless those are shared. Errors: `NotFound`.
pub fn profile(tx: &mut Tx<'_>, user: &str, shares_identity: bool) -> Result<PlayerProfile> {
    let identity = find_identity(tx, user)?;
    let identity = if shares_identity { identity } else { identity.without_name() };
    let (role, developer_status) = repository::players::role_and_name(tx, user)?;
    Ok(PlayerProfile {
        name: identity.name(),
        player: PlayerName { id: identity.id, username: identity.username },
        email: identity.email,
        role,
        developer_status,
    })
}

/// A player as others see them. Errors: `NotFound`.
pub fn public_player(tx: &mut Tx<'_>, user: &str) -> Result<PlayerName> {
    let PlayerIdentity { id, username, .. } = find_identity(tx, user)?;
    Ok(PlayerName { id, username })
}

/// The active users within the reach who have played one of the games, as others see them, in the order in which they
/// were created.
pub fn list(
    tx: &mut Tx<'_>,
    games: &VisibleGames,
    page: PageRequest,
    reach: &Reach,
) -> Result<Vec<PlayerName>> {
    let found = repository::players::list(tx, games, page, reach)?;
    let player_name = |(id, chosen, given_name): (String, String, String)| {
        let username = public_name(&chosen, &given_name).to_owned();
        PlayerName { id, username }
    };
    Ok(found.into_iter().map(player_name).collect())
}

/// Whether a user has played one of the games: has a session, score, state, achievement or activity there, or is a
/// visitor of its demo.
pub fn has_played(tx: &mut Tx<'_>, user: &str, games: &VisibleGames) -> Result<bool> {
    match games {
        VisibleGames::Every => Ok(true),
        VisibleGames::Only(games) => repository::players::has_played(tx, user, games),
    }
}

/// Sets a user's role on the platform.
pub fn put_role(tx: &mut Tx<'_>, user: &str, role: PlayerRole) -> Result<()> {
    let status = if role == PlayerRole::Player { "none" } else { "approved" };
    repository::players::put_standing(tx, user, role, status)
}

/// A user's name in games. It never contains an email address or a family name, because other players see it.
pub(crate) fn username(record: &Object) -> &str {
    public_name(fields::text(record, "username"), fields::text(record, "givenName"))
}

fn public_name<'n>(chosen: &'n str, given_name: &'n str) -> &'n str {
    if chosen.is_empty() || chosen.contains('@') { given_name } else { chosen }
}

fn identity_of(tx: &mut Tx<'_>, user: &str) -> Result<PlayerIdentity> {
    match visitors::lookup(tx, user)? {
        Some(visitor) => Ok(PlayerIdentity::of_visitor(visitor)),
        None => Ok(PlayerIdentity::of_user(user, &fields::in_use(tx, &USER, user)?)),
    }
}

fn find_identity(tx: &mut Tx<'_>, user: &str) -> Result<PlayerIdentity> {
    identity_of(tx, user).map_err(|problem| match problem.kind {
        ProblemKind::NotFound => {
            Problem::new(ProblemKind::NotFound, message!("there is no user '{user}'"))
        }
        _ => problem,
    })
}
