//! From the state before V19, in which attempts did not keep what their lessons were worth.

use lyceum_adaptive::MIGRATIONS;
use lyceum_adaptive::engine::WHOLE;
use lyceum_adaptive::repository::{attempts, log};
use lyceum_store::{Db, Migration};
use lyceum_testkit::both_stores;

#[test]
fn migrated_attempts_keep_their_xp_and_questions() {
    let former: Vec<Migration> =
        MIGRATIONS.iter().filter(|one| one.version < 19).copied().collect();
    both_stores(&former, |target| {
        let db = Db::open(target, &former).unwrap();
        db.write_blocking(|tx| {
            // Complete with XP, complete without, running with a question that is asked.
            for (lesson, ends) in [
                ("earned", "2, 2, 100.0, 2, 2, 12.5, 1.25, 1, 0, 9"),
                ("nothing", "2, 2, 100.0, 1, 9, 0.0, 0.0, 1, 0, 9"),
                ("running", "2, 1, 14.0, 1, 1, NULL, NULL, 0, 0, NULL"),
            ] {
                let sql = format!(
                    "INSERT INTO lesson_attempt (student, lesson, era, attempt, course, \
                     lesson_type, policy, bank, seed, round, served, answered, score, correct, \
                     total, xp, multiplier, mastered, started_ms, completed_ms) \
                     VALUES ('amy', $1, 0, 1, 'math', 'powerpath-100', 0, 'bank', 7, 0, {ends})"
                );
                tx.execute(&sql, &[lesson.into()])?;
            }
            tx.execute(
                "INSERT INTO lesson_question (attempt, round, number, question, item, served_ms, \
                 reason) SELECT id, 0, 1, 4, 'q4', 5, '{\"strategy\":\"in-order\",\"place\":4}' \
                 FROM lesson_attempt WHERE lesson = 'running'",
                &[],
            )
        })
        .unwrap();
        drop(db);
        let db = Db::open(target, MIGRATIONS).unwrap();
        let (kept, asked) = db
            .read_blocking(|tx| {
                let kept = attempts::past(tx, Some("amy"), None)?;
                let asked = log::entries(tx, &kept[2])?;
                Ok((kept, asked))
            })
            .unwrap();
        let worth: Vec<Option<f64>> = kept.iter().map(|attempt| attempt.base_xp).collect();
        assert_eq!(worth, [Some(10.0), None, None]);
        let earned: Vec<_> = kept.iter().map(|attempt| (attempt.earned, attempt.units)).collect();
        let each = u64::from(WHOLE);
        assert_eq!(earned, [(2 * each, 1), (each, 1), (each, 0)]);
        assert!(kept.iter().all(|attempt| (attempt.pending, attempt.seeding) == (0, 0)));
        let (running, asked) = (&kept[2], &asked[0]);
        assert_eq!((running.answered, asked.number, asked.item.as_str()), (1, 1, "q4"));
    });
}
