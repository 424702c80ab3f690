//! Scores, and each player's best score in each period.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result};
use lyceum_roster::kinds::USER;
use lyceum_roster::repository as roster;
use lyceum_store::{Sql, Tx, Value, columns, dialect};
use schemars::JsonSchema;
use serde::Serialize;

use super::{list_of, ms};
use crate::input::{Metadata, PageRequest, text_of};
use crate::visible_games::VisibleGames;

/// The players on a leader board: signed-in players or demo visitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Board {
    /// Signed-in players.
    Players,
    /// Demo visitors, who only see and write these scores.
    Demo,
}

/// A score of a player in a game.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GameScore {
    /// A UUID.
    pub id: String,
    /// The game's id.
    pub game_id: String,
    /// The player's id.
    pub user_id: String,
    /// The score; higher is better.
    #[serde(serialize_with = "plain_number")]
    pub score: f64,
    /// Further data from the game.
    pub metadata: Metadata,
    /// When it was submitted.
    pub achieved_at: Timestamp,
}

/// A line of a leader board: a player with their best score.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeaderboardLine {
    /// The rank, from 1. Of equal scores, the earlier one ranks higher.
    pub rank: i64,
    /// The player's id.
    pub user_id: String,
    /// The player's name in games.
    pub username: String,
    /// The best score.
    #[serde(serialize_with = "plain_number")]
    pub score: f64,
    /// When it was submitted.
    pub achieved_at: Timestamp,
}

/// Serializes whole numbers without a decimal point: `1200`, not `1200.0`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn plain_number<S: serde::Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
    match number.fract() == 0.0 && number.abs() < 9e15 {
        true => serializer.serialize_i64(*number as i64),
        false => serializer.serialize_f64(*number),
    }
}

/// The names of the tables for scores and best scores.
fn tables(board: Board) -> (&'static str, &'static str) {
    match board {
        Board::Players => ("game_scores", "game_bests"),
        Board::Demo => ("game_demo_scores", "game_demo_bests"),
    }
}

columns!(GameScore {
    id: "id",
    game_id: "game_id",
    user_id: "user_id",
    score: "score",
    metadata: "metadata",
    achieved_at: "at_ms",
});

/// Returns the score's number.
pub(crate) fn insert(tx: &mut Tx<'_>, board: Board, score: &GameScore) -> Result<i64> {
    let metadata = text_of(&score.metadata);
    let (scores, _) = tables(board);
    let sql = format!(
        "INSERT INTO {scores} (id, game_id, user_id, score, metadata, at_ms) \
         VALUES ($1, $2, $3, $4, $5, $6)"
    );
    let seq = tx.insert(
        &sql,
        "seq",
        &[
            (&score.id).into(),
            (&score.game_id).into(),
            (&score.user_id).into(),
            score.score.into(),
            (&metadata).into(),
            ms(score.achieved_at),
        ],
    )?;
    seq.ok_or_else(|| Problem::internal("a score was stored without a number"))
}

/// Replaces lower best scores in each of the periods.
pub(crate) fn keep_best(
    tx: &mut Tx<'_>,
    board: Board,
    score: &GameScore,
    seq: i64,
    periods: &[String],
) -> Result<()> {
    let values: Vec<Value<'_>> = periods
        .iter()
        .flat_map(|period| {
            [
                Value::from(&score.game_id),
                period.into(),
                (&score.user_id).into(),
                score.score.into(),
                seq.into(),
                ms(score.achieved_at),
            ]
        })
        .collect();
    let (_, bests) = tables(board);
    let replace = format!(
        "ON CONFLICT (game_id, period, user_id) DO UPDATE SET score = excluded.score, \
         seq = excluded.seq, at_ms = excluded.at_ms WHERE excluded.score > {bests}.score"
    );
    tx.send_rows(
        bests,
        &["game_id", "period", "user_id", "score", "seq", "at_ms"],
        &values,
        &replace,
    )
}

/// How many scores a demo visitor has.
pub(crate) fn count_demo(tx: &mut Tx<'_>, user: &str) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM game_demo_scores WHERE user_id = $1";
    Ok(tx.row(sql, &[user.into()])?.unwrap_or(0))
}

pub(crate) fn of_user(
    tx: &mut Tx<'_>,
    board: Board,
    user: &str,
    games: &VisibleGames,
    page: PageRequest,
) -> Result<Vec<GameScore>> {
    let (list, of_games) = match games {
        VisibleGames::Every => (String::new(), "$2 = ''".to_owned()),
        VisibleGames::Only(games) => {
            (list_of(games)?, dialect::is_one_of(tx.dialect(), "game_id", "$2"))
        }
    };
    let (scores, _) = tables(board);
    let sql = format!(
        "SELECT {} FROM {scores} WHERE user_id = $1 AND {of_games} ORDER BY seq DESC LIMIT $3 OFFSET $4",
        GameScore::COLUMNS
    );
    let params = [user.into(), list.as_str().into(), page.limit.into(), page.offset.into()];
    tx.rows(&sql, &params)
}

/// The best scores of a period of players within the reach, without ranks and names.
pub(crate) fn best(
    tx: &mut Tx<'_>,
    (game, board): (&str, Board),
    period: &str,
    page: PageRequest,
    reach: &Reach,
) -> Result<Vec<LeaderboardLine>> {
    let (_, bests) = tables(board);
    let mut sql = Sql::new(tx.dialect());
    sql.push(&format!("SELECT b.user_id, b.score, b.at_ms FROM {bests} b WHERE b.game_id = "));
    sql.bind(game).push(" AND b.period = ").bind(period).push(" AND ");
    roster::refers_within(&mut sql, (&USER, "b.user_id"), reach)?;
    sql.push(" ORDER BY b.score DESC, b.seq LIMIT ").bind(page.limit);
    sql.push(" OFFSET ").bind(page.offset);
    let line = |(user_id, score, achieved_at)| LeaderboardLine {
        rank: 0,
        user_id,
        username: String::new(),
        score,
        achieved_at,
    };
    Ok(tx.rows(&sql.text, &sql.values())?.into_iter().map(line).collect())
}
