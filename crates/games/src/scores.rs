//! Scores, and leader boards computed from them.

use std::collections::HashMap;

use lyceum_core::messages::must_be_one_of;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::fields;
use lyceum_roster::kinds::USER;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::input::{Faults, Metadata, PageRequest};
use crate::limits;
use crate::repository::scores as repository;
use crate::visible_games::VisibleGames;
use crate::{players, visitors};

pub use crate::repository::scores::{Board, GameScore, LeaderboardLine};

/// A score that a game sends.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewGameScore {
    /// The score; higher is better.
    #[schemars(range(min = -limits::SCORE_MAX_COUNT, max = limits::SCORE_MAX_COUNT))]
    score: f64,
    /// Further data from the game.
    #[serde(default)]
    metadata: Option<Metadata>,
    /// The number of correct answers. It is checked against totalQuestions and not stored.
    #[serde(default)]
    correct_questions: Option<f64>,
    /// The total number of questions. It is checked against correctQuestions and not stored.
    #[serde(default)]
    total_questions: Option<f64>,
}

/// The period of a leader board, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeframe {
    /// All scores.
    AllTime,
    /// Scores of this month.
    Monthly,
    /// Scores of this week, from Monday.
    Weekly,
    /// Scores of today.
    Daily,
}

impl Timeframe {
    /// All timeframes with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("all_time", Self::AllTime),
        ("monthly", Self::Monthly),
        ("weekly", Self::Weekly),
        ("daily", Self::Daily),
    ];

    /// The timeframe with that name. Errors: `Invalid`.
    pub fn of(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, timeframe)| *timeframe).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name);
            Problem::invalid("timeframe", must_be_one_of(&names, name))
        })
    }

    /// The name of the period that contains the instant.
    fn period(self, at: Timestamp) -> String {
        let date = at.date();
        match self {
            Self::AllTime => String::new(),
            Self::Monthly => date.strftime("%Y-%m").to_string(),
            Self::Weekly => date.strftime("%G-W%V").to_string(),
            Self::Daily => date.to_string(),
        }
    }
}

impl Board {
    /// The board of a player in a game. Errors: `Forbidden` for a demo visitor of another game.
    pub fn of(tx: &mut Tx<'_>, user: &str, game: &str) -> Result<Self> {
        Ok(match visitors::lookup(tx, user)? {
            Some(visitor) if visitor.is_demo() => {
                visitors::check_game(&visitor, game)?;
                Self::Demo
            }
            _ => Self::Players,
        })
    }
}

/// Stores a score. Errors: `Invalid`; `TooManyRequests` for a demo visitor who has [`limits::DEMO_SCORES_MAX_COUNT`]
/// scores; `Forbidden` for a demo visitor of another game.
pub fn submit(
    tx: &mut Tx<'_>,
    now: Timestamp,
    game: &str,
    user: &str,
    new: NewGameScore,
) -> Result<GameScore> {
    let score = GameScore {
        id: Uuid::now_v7().to_string(),
        game_id: game.to_owned(),
        user_id: user.to_owned(),
        score: new.score,
        metadata: new.metadata.unwrap_or_default(),
        achieved_at: now,
    };
    let most = limits::SCORE_MAX_COUNT;
    let mut faults = Faults::default();
    #[expect(clippy::cast_precision_loss, reason = "the bound is exact")]
    let fits = score.score.abs() <= most as f64;
    faults.unless(fits, "score", message!("must be a number from -{most} to {most}"));
    faults.metadata(&score.metadata);
    if let (Some(correct), Some(total)) = (new.correct_questions, new.total_questions) {
        faults.counts("correctQuestions", correct, total);
    }
    let value_of = |name: &str| score.metadata.get(name).and_then(serde_json::Value::as_f64);
    if let (Some(correct), Some(total)) = (value_of("correctQuestions"), value_of("totalQuestions"))
    {
        faults.counts("metadata.correctQuestions", correct, total);
    }
    faults.into_result()?;
    let board = Board::of(tx, user, game)?;
    let most = limits::DEMO_SCORES_MAX_COUNT;
    if board == Board::Demo && repository::count_demo(tx, user)? >= most {
        let message = message!("The limit for the scores of a demo visitor is {most}. Sign in.");
        return Err(Problem::new(ProblemKind::TooManyRequests, message));
    }
    let seq = repository::insert(tx, board, &score)?;
    let periods = Timeframe::ALL.map(|(_, timeframe)| timeframe.period(now));
    repository::keep_best(tx, board, &score, seq, &periods)?;
    Ok(score)
}

/// A player's scores in the games, newest first.
pub fn of_user(
    tx: &mut Tx<'_>,
    games: &VisibleGames,
    user: &str,
    page: PageRequest,
) -> Result<Vec<GameScore>> {
    let is_demo = visitors::lookup(tx, user)?.is_some_and(|visitor| visitor.is_demo());
    let board = if is_demo { Board::Demo } else { Board::Players };
    repository::of_user(tx, board, user, games, page)
}

/// A page of a leader board of the players within the reach: each player once, best scores first.
pub fn leaderboard(
    tx: &mut Tx<'_>,
    now: Timestamp,
    (game, board): (&str, Board),
    timeframe: Timeframe,
    page: PageRequest,
    reach: &Reach,
) -> Result<Vec<LeaderboardLine>> {
    let period = timeframe.period(now);
    let mut lines = repository::best(tx, (game, board), &period, page, reach)?;
    let users = fields::of_all(tx, &USER, lines.iter().map(|line| line.user_id.as_str()))?;
    let others =
        lines.iter().map(|line| line.user_id.as_str()).filter(|id| !users.contains_key(*id));
    let others: Vec<&str> = others.collect();
    let visitors = match others.is_empty() {
        true => HashMap::new(),
        false => crate::repository::visitors::usernames(tx, &others)?,
    };
    for (line, rank) in lines.iter_mut().zip(page.offset + 1..) {
        line.rank = rank;
        if let Some(user) = users.get(&line.user_id) {
            players::username(user).clone_into(&mut line.username);
        } else if let Some(username) = visitors.get(&line.user_id) {
            username.clone_into(&mut line.username);
        }
    }
    Ok(lines)
}
