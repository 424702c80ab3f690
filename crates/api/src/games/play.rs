//! Requests of players, and of clients and backends on behalf of players.

use std::time::Duration;

use http::{HeaderName, StatusCode};
use lyceum_access::{
    Access, AccessDenial, AccessReach, Player, PlayerTrust, RequestSubject, TokenHolder,
};
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, ProblemKind, Result};
use lyceum_games::games::{self, Game};
use lyceum_games::idempotency::{KeyOwner, KeyedRequest, RequestSender};
use lyceum_games::limits::{GAME_PAGE_MAX_RECORDS, REQUEST_KEY_MAX_CHARS};
use lyceum_games::visible_games::VisibleGames;
use lyceum_games::{PageRequest, lms, players};
use lyceum_http::answer::Answer;
use lyceum_http::auth::{self, Grant};
use lyceum_http::context::parameters;
use lyceum_http::route::ParamPlace;
use lyceum_roster::kinds::USER;
use lyceum_roster::repository;
use lyceum_store::Tx;
use serde::Serialize;

use crate::shape::some_text;
use crate::{Context, Route, limits};

/// The header with which a program marks a repeated request.
const ONCE: HeaderName = HeaderName::from_static("idempotency-key");

/// The game and player that a body names.
pub(super) type NamedPlayer<'a> = (Option<&'a str>, Option<&'a str>);

/// A request with the player and game that its token and query name.
pub(super) struct GameRequest {
    pub(super) context: Context,
    pub(super) now: Timestamp,
    user: Option<String>,
    /// The game of the token.
    game: Option<String>,
}

/// The part of a player's data that the caller may see.
pub(super) enum PlayerVisibility {
    /// The id and username.
    Name,
    /// Also the name and e-mail address.
    Identity,
    /// All data that the caller's other rights allow.
    Profile { shares_identity: bool, enrollments: bool },
}

impl GameRequest {
    pub(super) fn of(context: Context) -> Result<Self> {
        let now = context.app.clock.now();
        let requested_user = context.query_value("userId");
        let grant = context.grant.as_ref();
        if let Some(game) = grant.and_then(|grant| grant.game_of_backend()) {
            let game = Some(game.to_owned());
            return Ok(Self { context, now, user: requested_user, game });
        }
        let Some(player) = grant.and_then(|grant| grant.player()) else {
            return Ok(Self { context, now, user: requested_user, game: None });
        };
        if let Some(user) = requested_user.filter(|user| *user != player.user) {
            return Err(auth::refusal(&AccessDenial::Player(user)).problem);
        }
        let (user, game) = (Some(player.user.clone()), Some(player.game.clone()));
        Ok(Self { context, now, user, game })
    }

    /// Applies the access rule to the subject of the request.
    ///
    /// Errors: `Forbidden`.
    pub(super) fn decide(&self, subject: RequestSubject<'_>) -> Result<AccessReach> {
        let decided = auth::decide(self.context.grant.as_ref(), self.context.route.access, subject);
        decided.map_err(|denied| auth::refusal(&denied).problem)
    }

    /// The extent of the caller's access.
    ///
    /// Errors: `Forbidden`.
    pub(super) fn decide_route(&self) -> Result<AccessReach> {
        self.decide(RequestSubject::Route(self.context.route.limited_callers))
    }

    fn holder(&self) -> Option<&TokenHolder> {
        self.context.grant.as_ref().and_then(Grant::holder)
    }

    /// The games of a caller who is limited to some: the projects of a developer or key, or the game of a backend or
    /// token.
    fn own_games(&self, tx: &mut Tx<'_>) -> Result<Vec<Game>> {
        match (self.decide_route()?, self.holder()) {
            (AccessReach::OwnProjects | AccessReach::Project(_), Some(holder)) => {
                let slugs = holder.projects(tx)?;
                games::of_slugs(tx, &slugs)
            }
            (
                AccessReach::Game(game) | AccessReach::Player { player: Player { game, .. }, .. },
                _,
            ) => Ok(games::lookup(tx, &game)?.into_iter().collect()),
            _ => Ok(Vec::new()),
        }
    }

    /// The games whose records and players the answer may show.
    pub(super) fn games(&self, tx: &mut Tx<'_>) -> Result<VisibleGames> {
        match self.decide_route()? {
            // Players may see everything that they have, whichever game it comes from.
            AccessReach::Everything { .. }
            | AccessReach::Roster { .. }
            | AccessReach::Player { trust: PlayerTrust::Games | PlayerTrust::Person, .. } => {
                Ok(VisibleGames::Every)
            }
            _ => Ok(ids(self.own_games(tx)?)),
        }
    }

    fn is_player(&self, user: &str) -> bool {
        let player = self.context.grant.as_ref().and_then(Grant::player);
        player.is_some_and(|player| player.user == user)
    }

    /// Whether the user lies within the part of the roster that the caller has access to.
    fn is_within_reach(&self, tx: &mut Tx<'_>, user: &str) -> Result<bool> {
        repository::is_within(tx, &USER, user, &self.context.reach())
    }

    /// Refuses a user outside of the part of the roster that the caller has access to.
    pub(super) fn check_within_reach(&self, tx: &mut Tx<'_>, user: &str) -> Result<()> {
        match self.is_within_reach(tx, user)? {
            true => Ok(()),
            false => Err(auth::refusal(&AccessDenial::Player(user.to_owned())).problem),
        }
    }

    /// Whether the user has played a game of a caller who is limited to some games, or is a student of one of their
    /// courses; for a caller who is limited to a part of the roster, whether the user lies within it.
    fn is_own(&self, tx: &mut Tx<'_>, user: &str) -> Result<bool> {
        if !self.is_within_reach(tx, user)? {
            return Ok(false);
        }
        let own = match self.decide_route()? {
            AccessReach::Roster { .. } => return Ok(true),
            _ => self.own_games(tx)?,
        };
        if own.is_empty() || self.is_player(user) {
            return Ok(false);
        }
        Ok(players::has_played(tx, user, &ids(own))? || self.is_student(tx, user)?)
    }

    /// Whether the user is a student of a course that a game of the caller teaches. Callers cannot make a user a
    /// student. In a sandbox, the demo user is the developer.
    fn is_student(&self, tx: &mut Tx<'_>, user: &str) -> Result<bool> {
        let sandbox = self.context.app.sandbox.as_ref();
        if sandbox.is_some_and(|sandbox| sandbox.demo_user() == Some(user)) {
            return Ok(true);
        }
        for game in self.own_games(tx)? {
            if lms::teaches(tx, self.now, &game, user)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The player that the token or query names. This does not check the caller's access.
    pub(super) fn named(&self) -> Result<&str> {
        self.user.as_deref().ok_or_else(|| {
            Problem::invalid(
                "userId",
                "is required in the query, because a client's token does not name a player",
            )
        })
    }

    /// The player, for data within the caller's games.
    ///
    /// Errors: `Invalid` if the request names no player; `Forbidden`.
    pub(super) fn player(&self, tx: &mut Tx<'_>) -> Result<&str> {
        let user = self.named()?;
        self.check_player(tx, user)?;
        Ok(user)
    }

    /// Refuses a caller without access to the player's data within the caller's games.
    pub(super) fn check_player(&self, tx: &mut Tx<'_>, user: &str) -> Result<()> {
        let is_own = self.is_own(tx, user)?;
        self.decide(RequestSubject::Player { user, is_own }).map(drop)
    }

    /// The player, for data across all games.
    pub(super) fn player_of_all_games(&self, tx: &mut Tx<'_>) -> Result<&str> {
        let user = self.named()?;
        self.check_player_of_all_games(tx, user)?;
        Ok(user)
    }

    /// Refuses a caller without access to the player's data across all games.
    pub(super) fn check_player_of_all_games(&self, tx: &mut Tx<'_>, user: &str) -> Result<()> {
        let reach = self.decide_route()?;
        let is_student = self.is_within_reach(tx, user)?
            && (matches!(reach, AccessReach::Roster { .. })
                || reach.is_of_own_games() && self.is_student(tx, user)?);
        self.decide(RequestSubject::PlayerOfAllGames { user, is_student }).map(drop)
    }

    /// Whether the caller has access to the player's data across all games.
    pub(super) fn sees_all_games(&self, tx: &mut Tx<'_>, user: &str) -> Result<bool> {
        match self.check_player_of_all_games(tx, user) {
            Ok(()) => Ok(true),
            Err(problem) if problem.kind == ProblemKind::Forbidden => Ok(false),
            Err(problem) => Err(problem),
        }
    }

    /// The player, for data that the game stores. A caller with access to the game may name any player, even one who
    /// has not played it yet.
    pub(super) fn player_in(&self, tx: &mut Tx<'_>, game: &Game) -> Result<&str> {
        self.check_game(tx, game)?;
        let user = self.named()?;
        self.check_within_reach(tx, user)?;
        Ok(user)
    }

    /// Like [`GameRequest::player_in`], but the body may also name the player. Errors: `Forbidden` if it names another player
    /// than the token.
    pub(super) fn student_in<'a>(
        &'a self,
        tx: &mut Tx<'_>,
        game: &Game,
        in_body: Option<&'a str>,
    ) -> Result<&'a str> {
        self.check_game(tx, game)?;
        let user = match (in_body, self.user.as_deref()) {
            (Some(named), Some(user)) if named != user => {
                return Err(auth::refusal(&AccessDenial::Player(named.to_owned())).problem);
            }
            (Some(named), _) => named,
            (None, _) => self.named()?,
        };
        self.check_within_reach(tx, user)?;
        Ok(user)
    }

    /// The player that the path names as `{userId}`; `me` means the caller. This does not check the caller's access.
    pub(super) fn named_in_path(&self) -> Result<&str> {
        match self.context.param("userId") {
            "me" => self.named(),
            named => Ok(named),
        }
    }

    /// How much of the player's data the caller may see. Errors: `Forbidden` if the caller may see nothing.
    pub(super) fn view(&self, tx: &mut Tx<'_>, user: &str) -> Result<PlayerVisibility> {
        let is_own = self.is_own(tx, user)?;
        let reach = self.decide(RequestSubject::Name { user, is_own })?;
        if reach.names_people() {
            return Ok(PlayerVisibility::Profile { shares_identity: true, enrollments: true });
        }
        if self.user.as_deref() != Some(user) && self.is_demo(tx)? {
            return Err(auth::refusal(&AccessDenial::Demo).problem);
        }
        match &reach {
            AccessReach::OwnProjects | AccessReach::Project(_) => {
                for game in self.own_games(tx)? {
                    if game.shares_identity && lms::teaches(tx, self.now, &game, user)? {
                        return Ok(PlayerVisibility::Identity);
                    }
                }
                Ok(PlayerVisibility::Name)
            }
            AccessReach::Game(game) if self.is_student(tx, user)? => {
                let shares_identity = games::find(tx, game)?.shares_identity;
                Ok(PlayerVisibility::Profile { shares_identity, enrollments: true })
            }
            AccessReach::Player { player, trust } if self.is_player(user) => {
                let is_known = *trust == PlayerTrust::Person || self.is_student(tx, user)?;
                let shares = games::find(tx, &player.game)?.shares_identity;
                let shares_identity = shares && is_known;
                Ok(PlayerVisibility::Profile { shares_identity, enrollments: is_known })
            }
            _ => Ok(PlayerVisibility::Name),
        }
    }

    /// Refuses a caller without access to the game.
    pub(super) fn check_game(&self, tx: &mut Tx<'_>, game: &Game) -> Result<()> {
        let is_member = match self.holder() {
            Some(holder) => holder.is_member(tx, &game.slug)?,
            None => false,
        };
        self.decide(RequestSubject::Game { id: &game.id, slug: &game.slug, is_member }).map(drop)
    }

    /// The game that the path or query names as `gameId`, otherwise the game of the token.
    ///
    /// Errors: `NotFound`; `Forbidden`; `Invalid` if the request names no game.
    pub(super) fn game(&self, tx: &mut Tx<'_>) -> Result<Game> {
        self.game_or(tx, None)
    }

    /// Like [`GameRequest::game`], but the body may also name the game.
    pub(super) fn game_or(&self, tx: &mut Tx<'_>, in_body: Option<&str>) -> Result<Game> {
        let in_path = parameters(&self.context.route.path).any(|name| name == "gameId");
        let named = match in_path {
            true => Some(self.context.param("gameId").to_owned()),
            false => self.context.query_value("gameId"),
        };
        let named = in_body.map(str::to_owned).or(named);
        let Some(named) = named.as_deref().or(self.game.as_deref()) else {
            let message = "is required in the query: a client's token names no game";
            return Err(Problem::invalid("gameId", message));
        };
        let game = games::find(tx, named)?;
        self.check_game(tx, &game)?;
        Ok(game)
    }

    /// Like [`GameRequest::game_or`], to change the game. Players of all organizations share it, so that callers who are
    /// limited to a part of the roster do not change it.
    pub(super) fn game_to_change(&self, tx: &mut Tx<'_>, in_body: Option<&str>) -> Result<Game> {
        let (reach, grant) = (self.decide_route()?, &self.context.grant);
        if let (AccessReach::Roster { .. }, Some(grant)) = (reach, grant) {
            return Err(auth::refusal(&AccessDenial::Limited(grant.reach().clone())).problem);
        }
        self.game_or(tx, in_body)
    }

    /// The game that the query names, if any.
    pub(super) fn requested_game(&self, tx: &mut Tx<'_>) -> Result<Option<Game>> {
        match self.context.query_value("gameId") {
            Some(_) => self.game(tx).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn page(&self, usual: i64) -> Result<PageRequest> {
        PageRequest::of(usual, self.context.query())
    }

    pub(super) fn once(&self) -> Result<Option<KeyedRequest>> {
        let Context { method, uri, body, .. } = &self.context;
        let key = self.context.header(ONCE);
        key.map(|key| KeyedRequest::of(key, method.as_str(), uri.path(), body)).transpose()
    }

    /// The owner of this request's idempotency keys. The body may name the game and player.
    ///
    /// Errors: those of [`GameRequest::game_or`]. The game may be missing.
    pub(super) fn owner(
        &self,
        tx: &mut Tx<'_>,
        (game, player): NamedPlayer<'_>,
    ) -> Result<KeyOwner> {
        let game = match self.game_or(tx, game) {
            Ok(game) => Some(game.id),
            Err(problem) if problem.kind == ProblemKind::Invalid => None,
            Err(problem) => return Err(problem),
        };
        let grant = self.context.grant.as_ref().filter(|grant| grant.player().is_none());
        Ok(KeyOwner::of(&RequestSender {
            caller: grant.map(Grant::client_id),
            player: player.or(self.user.as_deref()),
            game: game.as_deref(),
            method: self.context.method.as_str(),
            route: &self.context.route.path,
        }))
    }

    /// Checks the player, because a token may outlive its user. Demo visitors are refused on routes that are not open
    /// to them, even if a backend or client acts for them.
    pub(super) fn present(&self, tx: &mut Tx<'_>) -> Result<()> {
        if self.is_demo(tx)? && !matches!(self.context.route.access, Access::Visitor(_)) {
            return Err(auth::refusal(&AccessDenial::Demo).problem);
        }
        Ok(())
    }

    /// The player, if the token or query names one.
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
}

fn ids(games: Vec<Game>) -> VisibleGames {
    VisibleGames::Only(games.into_iter().map(|game| game.id).collect())
}

pub(super) fn forbidden(message: impl Into<Message>) -> Problem {
    Problem::new(ProblemKind::Forbidden, message)
}

/// Runs a read and returns its result.
pub(super) async fn read<T: Serialize>(
    context: Context,
    work: impl Fn(&mut Tx<'_>, &GameRequest) -> Result<T> + Send + 'static,
) -> Result<Answer> {
    let play = GameRequest::of(context)?;
    let db = play.context.app.db.clone();
    Ok(Answer::json(db.read(answering(play, work)).await?))
}

/// Runs a long read on a thread for long reads, and returns its result.
pub(super) async fn scan<T: Serialize>(
    context: Context,
    work: impl Fn(&mut Tx<'_>, &GameRequest) -> Result<T> + Send + 'static,
) -> Result<Answer> {
    let play = GameRequest::of(context)?;
    let db = play.context.app.db.clone();
    let deadline = Duration::from_millis(limits::SCAN_MAX_MS);
    Ok(Answer::json(db.scan(deadline, answering(play, work)).await?))
}

fn answering<T: Serialize>(
    play: GameRequest,
    work: impl Fn(&mut Tx<'_>, &GameRequest) -> Result<T> + Send + 'static,
) -> impl Fn(&mut Tx<'_>) -> Result<String> + Send + 'static {
    move |tx| {
        play.present(tx)?;
        text_of(&work(tx, &play)?)
    }
}

/// Runs a write once for each `Idempotency-Key`, and returns its result with the status.
pub(super) async fn write<T: Serialize>(
    context: Context,
    status: StatusCode,
    work: impl Fn(&mut Tx<'_>, &GameRequest) -> Result<T> + Send + 'static,
) -> Result<Answer> {
    write_for(context, status, (None, None), work).await
}

/// Like [`write`], but the body may name the game and player.
pub(super) async fn write_for<T: Serialize>(
    context: Context,
    status: StatusCode,
    (game, player): (Option<String>, Option<String>),
    work: impl Fn(&mut Tx<'_>, &GameRequest) -> Result<T> + Send + 'static,
) -> Result<Answer> {
    let play = GameRequest::of(context)?;
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

/// The same route, on which a caller with a client's token names the player in the query.
pub(super) fn of_player(route: Route) -> Route {
    let description = "The player, if the caller is a client.";
    route.param(ParamPlace::Query, "userId", some_text(), description)
}

/// The same route, on which the query may name a game.
pub(super) fn of_game(route: Route) -> Route {
    let description = "Id or slug of the game, instead of the token's game.";
    route.param(ParamPlace::Query, "gameId", some_text(), description)
}

/// The same route, on which a request that is repeated with the same key takes effect once.
pub(super) fn once(route: Route) -> Route {
    let description = "A unique key for this request. A repeated request with the same key returns the first answer.";
    let key = serde_json::json!({
        "type": "string", "minLength": 1, "maxLength": REQUEST_KEY_MAX_CHARS,
    });
    of_player(route).param(ParamPlace::Header, "Idempotency-Key", key, description)
}

/// The same route, which returns a page of a list: usually with this number of entries.
pub(super) fn paged(usual: i64, route: Route) -> Route {
    let offset = serde_json::json!({ "type": "integer", "minimum": 0 });
    let route = route.page_limit(usual, GAME_PAGE_MAX_RECORDS);
    route.param(ParamPlace::Query, "offset", offset, "The number of entries to skip.")
}
