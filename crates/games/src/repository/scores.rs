//! Scores, and each player's best score in each period.

use lyceum_core::{Problem, Reach, Result};
use lyceum_roster::kinds::USER;
use lyceum_roster::repository as roster;
use lyceum_store::{Sql, Tx, Value, columns, dialect};

use super::{list_of, ms};
use crate::input::{PageRequest, text_of};
use crate::scores::{Board, GameScore, LeaderboardLine};
use crate::visible_games::VisibleGames;

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
