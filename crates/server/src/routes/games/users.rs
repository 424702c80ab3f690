//! Players.

use lyceum_access::Scope::GamesRead;
use lyceum_core::{Problem, Result};
use lyceum_games::{lms, players};
use lyceum_store::Tx;
use serde_json::{Value, json};

use super::lms::is_off;
use super::play::{Play, of_player};
use super::schema;
use crate::answer::Answer;
use crate::context::Context;
use crate::route::{Access, Route, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        of_player(get("/users/{userId}", Access::player(GamesRead), shown))
            .named("getPlayer")
            .says(
                "A player: 'me' is whoever calls, shown whole; others are shown by their username.",
            )
            .answers(200, "The player.", schema::player()),
    ]
}

async fn shown(context: Context) -> Result<Answer> {
    let off = is_off(&context.app);
    let db = context.app.db.clone();
    let play = std::sync::Arc::new(Play::of(context)?);
    let reading = std::sync::Arc::clone(&play);
    let player = match db.read(move |tx| player(tx, &reading, off, false)).await? {
        Some(player) => player,
        None => db
            .write(move |tx| player(tx, &play, off, true))
            .await?
            .ok_or_else(|| Problem::internal("a player's enrollments are due again and again"))?,
    };
    Ok(Answer::of(&player))
}

/// The player; none where something is due for their enrollments first, which `settles` does.
fn player(tx: &mut Tx<'_>, play: &Play, off: bool, settles: bool) -> Result<Option<Value>> {
    play.present(tx)?;
    let (user, is_open) = play.named_user()?;
    if !is_open {
        return players::seen(tx, user).map(|seen| Some(json!(seen)));
    }
    let mut shown = json!(players::profile(tx, user)?);
    let learner = match off {
        true => Value::Null,
        false => match lms::learner(tx, play.now, user, settles)? {
            Some(learner) => json!(learner),
            None => return Ok(None),
        },
    };
    // Both spellings of the integration's name.
    for (account, integration) in [("hasLmsAccount", "lms"), ("hasTimebackAccount", "timeback")] {
        shown[account] = (!off).into();
        shown[integration] = learner.clone();
    }
    Ok(Some(shown))
}
