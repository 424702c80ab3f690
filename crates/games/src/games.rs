//! Games: what is played.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_store::Tx;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::input::{Faults, Metadata, Page};
use crate::repository::games as repository;

/// A game.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Game {
    /// A UUID.
    pub id: String,
    /// Its name in addresses.
    pub slug: String,
    /// What people call it.
    pub display_name: String,
    /// What it is about.
    pub description: Option<String>,
    /// Its sign.
    pub emoji: Option<String>,
    /// What it runs on: `web`.
    pub platform: String,
    /// What else its makers say of it.
    pub metadata: Metadata,
    /// A stand-in for a project under development.
    pub mock: bool,
    /// Whether the game is told the names and e-mail addresses of its players.
    pub shares_identity: bool,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it was changed.
    pub updated_at: Timestamp,
}

/// What a game is made from.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewGame {
    /// Its name in addresses: small letters, digits and dashes between them.
    pub slug: String,
    /// What people call it.
    pub display_name: String,
    /// What it is about.
    pub description: Option<String>,
    /// Its sign.
    pub emoji: Option<String>,
    /// What it runs on; none: `web`.
    pub platform: Option<String>,
    /// What else its makers say of it.
    #[serde(default)]
    pub metadata: Metadata,
}

/// What is changed of a game; what is missing stays.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GameChange {
    /// What people call it.
    pub display_name: Option<String>,
    /// What it is about.
    pub description: Option<String>,
    /// Its sign.
    pub emoji: Option<String>,
    /// What it runs on.
    pub platform: Option<String>,
    /// What else its makers say of it.
    pub metadata: Option<Metadata>,
}

/// Registers a game under its slug. A game that is there already with the same members is answered
/// as it is, and false.
///
/// Errors: `Invalid`; `Conflict` where the slug is another game's.
pub fn create(tx: &mut Tx<'_>, now: Timestamp, new: NewGame) -> Result<(Game, bool)> {
    let game = Game {
        id: Uuid::now_v7().to_string(),
        slug: new.slug,
        display_name: new.display_name,
        description: new.description,
        emoji: new.emoji,
        platform: new.platform.unwrap_or_else(|| "web".to_owned()),
        metadata: new.metadata,
        mock: false,
        shares_identity: false,
        created_at: now,
        updated_at: now,
    };
    check(&game)?;
    if repository::insert(tx, &game)? {
        return Ok((game, true));
    }
    let known = find(tx, &game.slug)?;
    if says_the_same(&known, &game) {
        return Ok((known, false));
    }
    let message = format!(
        "the slug '{}' belongs to another game; choose another, or PATCH that one",
        known.slug
    );
    Err(Problem::new(ProblemKind::Conflict, message))
}

/// Changes a game. Errors: `NotFound`, `Invalid`.
pub fn change(tx: &mut Tx<'_>, now: Timestamp, which: &str, change: GameChange) -> Result<Game> {
    let mut game = find(tx, which)?;
    game.display_name = change.display_name.unwrap_or(game.display_name);
    game.description = change.description.or(game.description);
    game.emoji = change.emoji.or(game.emoji);
    game.platform = change.platform.unwrap_or(game.platform);
    game.metadata = change.metadata.unwrap_or(game.metadata);
    game.updated_at = now;
    check(&game)?;
    repository::update(tx, &game)?;
    Ok(game)
}

/// Decides whether a game is told the names and e-mail addresses of its players; answers the game.
///
/// Errors: `NotFound`.
pub fn share_identity(
    tx: &mut Tx<'_>,
    now: Timestamp,
    which: &str,
    shares_identity: bool,
) -> Result<Game> {
    let game = Game { shares_identity, updated_at: now, ..find(tx, which)? };
    repository::update(tx, &game)?;
    Ok(game)
}

/// The games, by the name that people call them.
pub fn list(tx: &mut Tx<'_>, page: Page) -> Result<Vec<Game>> {
    repository::list(tx, page)
}

/// The games of these slugs, where there are such games.
pub fn of_slugs(tx: &mut Tx<'_>, slugs: &[String]) -> Result<Vec<Game>> {
    repository::of_slugs(tx, slugs)
}

/// The game of an id or slug, if there is one.
pub fn lookup(tx: &mut Tx<'_>, id_or_slug: &str) -> Result<Option<Game>> {
    repository::find(tx, id_or_slug)
}

/// The game of an id or slug. Errors: `NotFound`.
pub fn find(tx: &mut Tx<'_>, id_or_slug: &str) -> Result<Game> {
    let found = repository::find(tx, id_or_slug)?;
    found.ok_or_else(|| {
        Problem::new(
            ProblemKind::NotFound,
            format!("there is no game '{id_or_slug}'; GET /api/games lists what there is"),
        )
    })
}

/// Puts the stand-in of a project in place: its id follows from its slug, so that it outlasts a
/// database that is made anew.
///
/// Errors: `Invalid`; `Conflict` where a game that is no stand-in has the slug.
pub fn put_mock(tx: &mut Tx<'_>, now: Timestamp, new: NewGame) -> Result<Game> {
    /// Under this namespace the id of a stand-in follows from its slug.
    const NAMESPACE: Uuid = Uuid::from_u128(0x2f6e_0b8c_91d4_4c1a_b3e5_7a40_c8d2_15f9);
    let known = repository::find(tx, &new.slug)?;
    if known.as_ref().is_some_and(|known| !known.mock) {
        let message = format!("the slug '{}' is a registered game's; choose another", new.slug);
        return Err(Problem::new(ProblemKind::Conflict, message));
    }
    let game = Game {
        id: Uuid::new_v5(&NAMESPACE, new.slug.as_bytes()).to_string(),
        slug: new.slug,
        display_name: new.display_name,
        description: new.description,
        emoji: new.emoji,
        platform: new.platform.unwrap_or_else(|| "web".to_owned()),
        metadata: new.metadata,
        mock: true,
        // The player of a sandbox is nobody.
        shares_identity: true,
        created_at: known.as_ref().map_or(now, |known| known.created_at),
        updated_at: now,
    };
    check(&game)?;
    match known {
        Some(known) if says_the_same(&known, &game) => return Ok(known),
        Some(_) => repository::update(tx, &game)?,
        None => drop(repository::insert(tx, &game)?),
    }
    Ok(game)
}

fn says_the_same(one: &Game, other: &Game) -> bool {
    one.display_name == other.display_name
        && one.description == other.description
        && one.emoji == other.emoji
        && one.platform == other.platform
        && one.metadata == other.metadata
}

fn check(game: &Game) -> Result<()> {
    let mut faults = Faults::default();
    faults.unless(is_slug(&game.slug), "slug", SLUG_RULE);
    faults.text("displayName", &game.display_name);
    faults.opt_text("description", game.description.as_deref());
    faults.opt_text("emoji", game.emoji.as_deref());
    faults.text("platform", &game.platform);
    faults.metadata(&game.metadata);
    faults.none()
}

/// What [`is_slug`] asks for.
pub const SLUG_RULE: &str =
    "must be 1 to 50 small letters, digits and single dashes between them, such as 'my-game'";

/// Whether the text can be a slug: it becomes a label of a host's name (RFC 1123), with room for
/// `-staging` behind it, and is never mistaken for an id.
pub fn is_slug(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=limits::GAME_SLUG_MAX_BYTES).contains(&text.len())
        && text.bytes().all(plain)
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
        && Uuid::try_parse(text).is_err()
}
