//! A request of a player, or of a client on a player's behalf.

use std::time::Duration;

use axum::http::{HeaderName, Method, StatusCode};
use lyceum_access::Scope;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Result, limits};
use lyceum_games::games::{self, Game};
use lyceum_games::once::{Once, Owner, Sender};
use lyceum_games::{Page, players};
use lyceum_store::Tx;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::Grant;
use crate::context::{Context, parameters};
use crate::route::{Access, Place, Route};

/// The header by which a program that sends a request again says that it is the same one.
const ONCE: HeaderName = HeaderName::from_static("idempotency-key");

/// The game and the player that a body names.
pub(super) type Named<'a> = (Option<&'a str>, Option<&'a str>);

/// A request, with what its token and its query say of player and game.
pub(super) struct Play {
    pub(super) context: Context,
    pub(super) now: Timestamp,
    user: Option<String>,
    /// The game of the token.
    game: Option<String>,
    /// Whether the token opens other games and players, too.
    anywhere: bool,
}

impl Play {
    pub(super) fn of(context: Context) -> Result<Self> {
        let now = context.app.clock.now();
        let asked = context.asked("userId");
        let grant = context.grant.as_ref();
        if let Some(game) = grant.and_then(|grant| grant.game_of_backend()) {
            let game = Some(game.to_owned());
            return Ok(Self { context, now, user: asked, game, anywhere: false });
        }
        let Some(player) = grant.and_then(|grant| grant.player()) else {
            return Ok(Self { context, now, user: asked, game: None, anywhere: true });
        };
        let anywhere = grant.is_some_and(|grant| grant.rights().allow(Scope::GamesRead));
        if let Some(asked) = asked.filter(|asked| *asked != player.user) {
            return Err(forbidden(&format!("the token is not for the player '{asked}'")));
        }
        let (user, game) = (Some(player.user.clone()), Some(player.game.clone()));
        Ok(Self { context, now, user, game, anywhere })
    }

    /// The player. Errors: a client's token, and no `userId` in the query.
    pub(super) fn user(&self) -> Result<&str> {
        self.user.as_deref().ok_or_else(|| {
            Problem::invalid("userId", "is required in the query: a client's token names no player")
        })
    }

    /// The player, where the body may name one, too. Errors: `Forbidden` for another than the token's.
    pub(super) fn student<'a>(&'a self, in_body: Option<&'a str>) -> Result<&'a str> {
        match (in_body, self.user.as_deref()) {
            (Some(named), Some(user)) if named != user => {
                Err(forbidden(&format!("the token is not for the player '{named}'")))
            }
            (Some(named), _) => Ok(named),
            (None, _) => self.user(),
        }
    }

    /// The player whom the path names as `{userId}`; `me` is whoever calls. Answers whether that is
    /// somebody whose records the token opens.
    pub(super) fn named_user(&self) -> Result<(&str, bool)> {
        let named = self.context.param("userId");
        if named == "me" {
            return Ok((self.user()?, true));
        }
        Ok((named, self.anywhere || self.user.as_deref() == Some(named)))
    }

    /// The game that path or query name as `gameId`, else the token's.
    ///
    /// Errors: `NotFound`; `Forbidden` where the token is for another one, or whoever changes something is
    /// none of its members; `Invalid` where no game is named.
    pub(super) fn game(&self, tx: &mut Tx<'_>) -> Result<Game> {
        self.game_or(tx, None)
    }

    /// [`Play::game`], where the body may name one, too.
    pub(super) fn game_or(&self, tx: &mut Tx<'_>, in_body: Option<&str>) -> Result<Game> {
        let in_path = parameters(&self.context.route.path).any(|name| name == "gameId");
        let named = match in_path {
            true => Some(self.context.param("gameId").to_owned()),
            false => self.context.asked("gameId"),
        };
        let named = in_body.map(str::to_owned).or(named);
        let Some(named) = named.as_deref().or(self.game.as_deref()) else {
            let message = "is required in the query: a client's token names no game";
            return Err(Problem::invalid("gameId", message));
        };
        let game = games::find(tx, named)?;
        if !self.anywhere && self.game.as_ref() != Some(&game.id) {
            return Err(forbidden(&format!("the token is not for the game '{named}'")));
        }
        if let Some(grant) =
            self.context.grant.as_ref().filter(|_| self.context.method != Method::GET)
        {
            grant.check_project(tx, &game.slug)?;
        }
        Ok(game)
    }

    /// The game that the query names, if it names one.
    pub(super) fn asked_game(&self, tx: &mut Tx<'_>) -> Result<Option<Game>> {
        match self.context.asked("gameId") {
            Some(_) => self.game(tx).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn page(&self, usual: i64) -> Result<Page> {
        Page::of(usual, self.context.query())
    }

    pub(super) fn once(&self) -> Result<Option<Once>> {
        let Context { method, uri, body, .. } = &self.context;
        let key = self.context.header(ONCE);
        key.map(|key| Once::of(key, method.as_str(), uri.path(), body)).transpose()
    }

    /// Who owns the keys of this request, of which the body may name game and player.
    ///
    /// Errors: those of [`Play::game_or`]; a request may name no game.
    pub(super) fn owner(&self, tx: &mut Tx<'_>, (game, player): Named<'_>) -> Result<Owner> {
        let game = match self.game_or(tx, game) {
            Ok(game) => Some(game.id),
            Err(problem) if problem.kind == ProblemKind::Invalid => None,
            Err(problem) => return Err(problem),
        };
        let grant = self.context.grant.as_ref().filter(|grant| grant.player().is_none());
        Ok(Owner::of(&Sender {
            caller: grant.map(Grant::client_id),
            player: player.or(self.user.as_deref()),
            game: game.as_deref(),
            method: self.context.method.as_str(),
            route: &self.context.route.path,
        }))
    }

    /// A token may outlive its user. Demo visitors are refused here wherever the route is not theirs, also
    /// where a backend or a client acts for them.
    pub(super) fn present(&self, tx: &mut Tx<'_>) -> Result<()> {
        if self.is_demo(tx)? && !matches!(self.context.route.access, Access::Visitor(_)) {
            return Err(forbidden(
                "a demo visitor has scores, the leader board and the app's backend; sign in for the rest",
            ));
        }
        Ok(())
    }

    /// The player, where token or query name one.
    pub(super) fn named_player(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Whether the player is a demo visitor.
    pub(super) fn is_demo(&self, tx: &mut Tx<'_>) -> Result<bool> {
        match &self.user {
            Some(user) => Ok(players::present(tx, user)?.demo_of.is_some()),
            None => Ok(false),
        }
    }

    /// Whether the caller may know names and e-mail addresses: a game only where that is allowed.
    pub(super) fn knows_identity(&self, tx: &mut Tx<'_>) -> Result<bool> {
        match &self.game {
            Some(game) if !self.anywhere => Ok(games::find(tx, game)?.shares_identity),
            _ => Ok(true),
        }
    }
}

pub(super) fn forbidden(message: &str) -> Problem {
    Problem::new(ProblemKind::Forbidden, message)
}

/// Answers what is read.
pub(super) async fn read<T: Serialize>(
    context: Context,
    work: impl Fn(&mut Tx<'_>, &Play) -> Result<T> + Send + 'static,
) -> Result<Answer> {
    let play = Play::of(context)?;
    let db = play.context.app.db.clone();
    Ok(Answer::json(db.read(answering(play, work)).await?))
}

/// Answers what is read from much, where a long read holds up nobody.
pub(super) async fn scan<T: Serialize>(
    context: Context,
    work: impl Fn(&mut Tx<'_>, &Play) -> Result<T> + Send + 'static,
) -> Result<Answer> {
    let play = Play::of(context)?;
    let db = play.context.app.db.clone();
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    Ok(Answer::json(db.scan(deadline, answering(play, work)).await?))
}

fn answering<T: Serialize>(
    play: Play,
    work: impl Fn(&mut Tx<'_>, &Play) -> Result<T> + Send + 'static,
) -> impl Fn(&mut Tx<'_>) -> Result<String> + Send + 'static {
    move |tx| {
        play.present(tx)?;
        text_of(&work(tx, &play)?)
    }
}

/// Does what is asked, once for one `Idempotency-Key`, and answers it with the status.
pub(super) async fn write<T: Serialize>(
    context: Context,
    status: StatusCode,
    work: impl Fn(&mut Tx<'_>, &Play) -> Result<T> + Send + 'static,
) -> Result<Answer> {
    write_for(context, status, (None, None), work).await
}

/// [`write`], where the body may name game and player.
pub(super) async fn write_for<T: Serialize>(
    context: Context,
    status: StatusCode,
    (game, player): (Option<String>, Option<String>),
    work: impl Fn(&mut Tx<'_>, &Play) -> Result<T> + Send + 'static,
) -> Result<Answer> {
    let play = Play::of(context)?;
    let once = play.once()?;
    let db = play.context.app.db.clone();
    let write = move |tx: &mut Tx<'_>| {
        play.present(tx)?;
        let answer = |tx: &mut Tx<'_>| text_of(&work(tx, &play)?);
        match &once {
            Some(once) => {
                let owner = play.owner(tx, (game.as_deref(), player.as_deref()))?;
                once.run(tx, play.now, &owner, answer)
            }
            None => answer(tx),
        }
    };
    Ok(Answer::json(db.write(write).await?).status(status))
}

pub(super) fn text_of(answer: &impl Serialize) -> Result<String> {
    serde_json::to_string(answer).map_err(Problem::internal)
}

/// The same route, for which a client's token names the player in the query.
pub(super) fn of_player(route: Route) -> Route {
    let says = "The player, where a client's token calls.";
    route.param(Place::Query, "userId", super::schema::id(), says)
}

/// The same route, for which the query may name a game.
pub(super) fn of_game(route: Route) -> Route {
    let says = "Id or slug of the game, in place of the token's.";
    route.param(Place::Query, "gameId", super::schema::id(), says)
}

/// The same route, of which a request that is sent again with the same key happens once.
pub(super) fn once(route: Route) -> Route {
    let says = "Names this request; sent again with the same key it is answered as it was.";
    let key = serde_json::json!({
        "type": "string", "minLength": 1, "maxLength": limits::REQUEST_KEY_MAX_BYTES,
    });
    of_player(route).param(Place::Header, "Idempotency-Key", key, says)
}

/// The same route, which answers a page.
pub(super) fn paged(route: Route) -> Route {
    let least = |least: u64| serde_json::json!({ "type": "integer", "minimum": least });
    route.param(Place::Query, "limit", least(1), "How many at most.").param(
        Place::Query,
        "offset",
        least(0),
        "Behind how many.",
    )
}
