//! Scores, and the best of each player in each period.

use lyceum_core::{Problem, Result};
use lyceum_store::{Row, Tx, Value, dialect};

use super::{list_of, ms};
use crate::input::{Page, metadata_in, text_of};
use crate::reach::Games;
use crate::scores::{Board, Line, Score};

/// The tables of scores and of best scores.
fn tables(board: Board) -> (&'static str, &'static str) {
    match board {
        Board::Players => ("game_scores", "game_bests"),
        Board::Demo => ("game_demo_scores", "game_demo_bests"),
    }
}

fn read(row: &Row<'_>) -> Result<Score> {
    Ok(Score {
        id: row.string(0)?,
        game_id: row.string(1)?,
        user_id: row.string(2)?,
        score: row.real(3)?,
        metadata: metadata_in(row.text(4)?)?,
        achieved_at: row.time(5)?,
    })
}

/// Answers the score's number.
pub(crate) fn insert(tx: &mut Tx<'_>, board: Board, score: &Score) -> Result<i64> {
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
    seq.ok_or_else(|| Problem::internal("a score got no number"))
}

/// Puts a score in the place of lower ones in each of the periods.
pub(crate) fn keep_best(
    tx: &mut Tx<'_>,
    board: Board,
    score: &Score,
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
    Ok(tx.query_one(sql, &[user.into()], |row| row.int(0))?.unwrap_or(0))
}

pub(crate) fn of_user(
    tx: &mut Tx<'_>,
    board: Board,
    user: &str,
    games: &Games,
    page: Page,
) -> Result<Vec<Score>> {
    let (list, which) = match games {
        Games::Every => (String::new(), "$2 = ''".to_owned()),
        Games::Only(games) => (list_of(games)?, dialect::is_one_of(tx.dialect(), "game_id", "$2")),
    };
    let (scores, _) = tables(board);
    let sql = format!(
        "SELECT id, game_id, user_id, score, metadata, at_ms FROM {scores} \
         WHERE user_id = $1 AND {which} ORDER BY seq DESC LIMIT $3 OFFSET $4"
    );
    let params = [user.into(), list.as_str().into(), page.limit.into(), page.offset.into()];
    tx.all(&sql, &params, read)
}

/// The best scores of a period; ranks and names of players are not known here.
pub(crate) fn best(
    tx: &mut Tx<'_>,
    board: Board,
    game: &str,
    period: &str,
    page: Page,
) -> Result<Vec<Line>> {
    let (_, bests) = tables(board);
    let sql = format!(
        "SELECT user_id, score, at_ms FROM {bests} WHERE game_id = $1 AND period = $2 \
         ORDER BY score DESC, seq LIMIT $3 OFFSET $4"
    );
    let params = [game.into(), period.into(), page.limit.into(), page.offset.into()];
    tx.all(&sql, &params, |row| {
        Ok(Line {
            rank: 0,
            user_id: row.string(0)?,
            username: String::new(),
            score: row.real(1)?,
            achieved_at: row.time(2)?,
        })
    })
}
