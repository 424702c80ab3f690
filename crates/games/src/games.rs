//! The games of the platform.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, message};
use lyceum_project::limits::GAME_SLUG_MAX_CHARS;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::input::{Faults, Metadata, PageRequest};
use crate::limits;
use crate::repository::games as repository;

pub use crate::repository::games::Game;

/// A game to register.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewGame {
    /// Its name in addresses: small letters, digits and dashes between them.
    #[schemars(extend(
        "pattern" = "^[a-z0-9]+(-[a-z0-9]+)*$",
        "maxLength" = GAME_SLUG_MAX_CHARS
    ))]
    pub slug: String,
    /// Its name for people.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub display_name: String,
    /// Its description.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub description: Option<String>,
    /// The emoji that represents it.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub emoji: Option<String>,
    /// The platform that it runs on; by default `web`.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub platform: Option<String>,
    /// Further data from its developers.
    #[serde(default)]
    pub metadata: Metadata,
}

/// The changes of a game. Missing members stay the same.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GameChange {
    /// Its name for people.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub display_name: Option<String>,
    /// Its description.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub description: Option<String>,
    /// The emoji that represents it.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub emoji: Option<String>,
    /// The platform that it runs on.
    #[schemars(length(min = 1, max = limits::GAME_TEXT_MAX_CHARS))]
    pub platform: Option<String>,
    /// Further data from its developers.
    pub metadata: Option<Metadata>,
}

/// Registers a game under its slug. If an equal game already exists, it returns that game and `false`.
///
/// Errors: `Invalid`; `Conflict` if another game has the slug.
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
    if has_same_content(&known, &game) {
        return Ok((known, false));
    }
    let message = message!(
        "the slug '{known.slug}' belongs to another game; choose another, or PATCH that one"
    );
    Err(Problem::new(ProblemKind::Conflict, message))
}

/// Changes a game. Errors: `NotFound`, `Invalid`.
pub fn change(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game_name: &str,
    change: GameChange,
) -> Result<Game> {
    let mut game = find(tx, game_name)?;
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

/// Sets whether a game receives the names and email addresses of its players; returns the game.
///
/// Errors: `NotFound`.
pub fn share_identity(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game_name: &str,
    shares_identity: bool,
) -> Result<Game> {
    let game = Game { shares_identity, updated_at: now, ..find(tx, game_name)? };
    repository::update(tx, &game)?;
    Ok(game)
}

/// The games by their names for people.
pub fn list(tx: &mut Tx<'_>, page: PageRequest) -> Result<Vec<Game>> {
    repository::list(tx, page)
}

/// The games with these slugs. Unknown slugs are skipped.
pub fn of_slugs(tx: &mut Tx<'_>, slugs: &[String]) -> Result<Vec<Game>> {
    repository::of_slugs(tx, slugs)
}

/// The game with an id or slug, if it exists.
pub fn lookup(tx: &mut Tx<'_>, id_or_slug: &str) -> Result<Option<Game>> {
    repository::find(tx, id_or_slug)
}

/// The game with an id or slug. Errors: `NotFound`.
pub fn find(tx: &mut Tx<'_>, id_or_slug: &str) -> Result<Game> {
    let found = repository::find(tx, id_or_slug)?;
    found.ok_or_else(|| {
        Problem::new(
            ProblemKind::NotFound,
            message!("there is no game '{id_or_slug}'; list the games with GET /api/games"),
        )
    })
}

/// Creates or updates the game that stands for a project under development. Its id is derived from its slug, so it is
/// the same in a recreated database.
///
/// Errors: `Invalid`; `Conflict` if a registered game has the slug.
pub fn put_mock(tx: &mut Tx<'_>, now: Timestamp, new: NewGame) -> Result<Game> {
    /// The namespace of ids that are derived from slugs.
    const NAMESPACE: Uuid = Uuid::from_u128(0x2f6e_0b8c_91d4_4c1a_b3e5_7a40_c8d2_15f9);
    let known = repository::find(tx, &new.slug)?;
    if known.as_ref().is_some_and(|known| !known.mock) {
        let message =
            message!("the slug '{new.slug}' belongs to a registered game; choose another");
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
        // The player of a sandbox is not a real person.
        shares_identity: true,
        created_at: known.as_ref().map_or(now, |known| known.created_at),
        updated_at: now,
    };
    check(&game)?;
    match known {
        Some(known) if has_same_content(&known, &game) => return Ok(known),
        Some(_) => repository::update(tx, &game)?,
        None => drop(repository::insert(tx, &game)?),
    }
    Ok(game)
}

fn has_same_content(one: &Game, other: &Game) -> bool {
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
    faults.into_result()
}

/// The rule of [`is_slug`] as a message.
pub const SLUG_RULE: &str = "must have 1 to 50 lower-case letters, digits and single dashes between them, such as 'my-game'";

/// Whether the text can be a slug. A slug becomes a label of a host name (RFC 1123), must leave room for the suffix
/// `-staging`, and must not look like an id.
pub fn is_slug(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=GAME_SLUG_MAX_CHARS).contains(&text.len())
        && text.bytes().all(plain)
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
        && Uuid::try_parse(text).is_err()
}
