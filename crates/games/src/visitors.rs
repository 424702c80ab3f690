//! Visitors: players who are not in the roster. A demo visitor is anonymous, plays one game and has only demo scores,
//! which are purged. A signed-in person who is not in the roster also plays as a visitor, but keeps scores and
//! states.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_store::Tx;
use uuid::Uuid;

use crate::games::Game;
use crate::limits;
use crate::repository::visitors as repository;

pub use crate::repository::visitors::Visitor;

/// The beginning of every visitor's id.
const ID_PREFIX: &str = "visitor-";

/// Creates a demo visitor of the game, kept for [`limits::DEMO_KEPT_DAYS`].
pub fn begin_demo(tx: &mut Tx<'_>, now: Timestamp, game: &Game) -> Result<Visitor> {
    let id = Uuid::new_v4().simple().to_string();
    let visitor = Visitor {
        username: format!("Guest {}", id[..5].to_uppercase()),
        id: format!("{ID_PREFIX}{id}"),
        game: Some(game.id.clone()),
        name: String::new(),
        email: String::new(),
    };
    repository::insert(tx, now, &visitor, None, Some(demo_ends(now)))?;
    Ok(visitor)
}

/// Finds the demo visitor with that id in the game, and extends their time; `None` if there is none.
pub fn renew_demo(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &Game,
    id: &str,
) -> Result<Option<Visitor>> {
    let known = lookup(tx, id)?.filter(|known| known.game.as_ref() == Some(&game.id));
    if known.is_some() {
        repository::renew(tx, id, demo_ends(now))?;
    }
    Ok(known)
}

fn demo_ends(now: Timestamp) -> Timestamp {
    now.plus_seconds(limits::DEMO_KEPT_DAYS * 24 * 60 * 60)
}

/// The visitor as whom a person plays, the same in all games. Name and email address follow the account.
pub fn of_person(
    tx: &mut Tx<'_>,
    now: Timestamp,
    person: &str,
    (name, email): (&str, &str),
) -> Result<Visitor> {
    let mut visitor = match repository::of_person(tx, person)? {
        Some(known) if known.name == name && known.email == email => return Ok(known),
        Some(known) => known,
        None => Visitor {
            id: format!("{ID_PREFIX}{}", Uuid::new_v4().simple()),
            game: None,
            username: String::new(),
            name: String::new(),
            email: String::new(),
        },
    };
    // Like usernames of roster users, this never contains the family name.
    let first = name.split_whitespace().next().unwrap_or("Guest");
    first.clone_into(&mut visitor.username);
    name.clone_into(&mut visitor.name);
    email.clone_into(&mut visitor.email);
    repository::insert(tx, now, &visitor, Some(person), None)?;
    // A concurrent request may have created the visitor.
    repository::of_person(tx, person)?
        .ok_or_else(|| Problem::internal("a visitor is missing right after it was stored"))
}

/// Whether the person plays as the visitor of that id.
pub fn is_person(tx: &mut Tx<'_>, id: &str, person: &str) -> Result<bool> {
    Ok(repository::of_person(tx, person)?.is_some_and(|visitor| visitor.id == id))
}

/// The visitor with the id, if it is a visitor's.
pub fn lookup(tx: &mut Tx<'_>, id: &str) -> Result<Option<Visitor>> {
    // Avoids a query for roster users, who are most players.
    if !id.starts_with(ID_PREFIX) {
        return Ok(None);
    }
    repository::find(tx, id)
}

/// Refuses a demo visitor in a game other than the visitor's own.
///
/// Errors: `Forbidden`.
pub(crate) fn check_game(visitor: &Visitor, game: &str) -> Result<()> {
    match &visitor.game {
        Some(own) if own != game => {
            let message = message!(
                "'{visitor.username}' is a demo visitor of another game; sign in to play this one"
            );
            Err(Problem::new(ProblemKind::Forbidden, message))
        }
        _ => Ok(()),
    }
}

/// Deletes expired demo visitors with their scores, at most [`limits::DEMO_PURGE_MAX_COUNT`] at once. Returns their
/// number.
pub fn purge(tx: &mut Tx<'_>, now: Timestamp) -> Result<usize> {
    let expired = repository::expired(tx, now, limits::DEMO_PURGE_MAX_COUNT)?;
    if !expired.is_empty() {
        repository::forget(tx, &expired)?;
    }
    Ok(expired.len())
}
