use std::collections::BTreeSet;

use lyceum_core::time::Timestamp;
use lyceum_store::Db;
use lyceum_store::jobs::{self, ClaimedJob, JobTry};
use lyceum_store::limits::JOB_MAX_ATTEMPTS;

use crate::{on_both, wait};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_milliseconds(1_770_000_000_000).plus_seconds(seconds)
}

fn claim(db: &Db, seconds: i64) -> Option<ClaimedJob> {
    wait(db.write(move |tx| jobs::claim(tx, at(seconds), "mail", 30))).unwrap()
}

#[test]
fn a_job_is_claimed_again_until_it_is_finished() {
    on_both(|db| {
        let id = wait(db.write(|tx| jobs::add(tx, at(0), "mail", "{}"))).unwrap();
        wait(db.write(|tx| jobs::add(tx, at(0), "other", "{}"))).unwrap();
        let first = claim(db, 0).unwrap();
        assert_eq!((first.id, first.attempt, first.payload.as_str()), (id, 1, "{}"));
        assert_eq!(claim(db, 29), None, "the lease hides it");
        let second = claim(db, 30).expect("the lease has ended");
        assert_eq!(second.attempt, 2);
        let late = first.clone();
        assert!(
            !wait(db.write(move |tx| jobs::finish(tx, at(30), &late))).unwrap(),
            "it was taken away"
        );
        let job = second.clone();
        assert!(wait(db.write(move |tx| jobs::fail(tx, at(31), &job, "no answer"))).unwrap());
        assert_eq!(claim(db, 34), None, "it waits for four seconds");
        let third = claim(db, 35).unwrap();
        assert!(wait(db.write(move |tx| jobs::finish(tx, at(36), &third))).unwrap());
        assert_eq!(claim(db, 100_000), None);

        // Each try: one lost its worker, one failed, one did it.
        let (seen, tries) = wait(db.read(move |tx| jobs::find(tx, id))).unwrap().unwrap();
        assert_eq!((seen.state.as_str(), seen.attempts), ("done", 3));
        let job_try = |attempt, began, ended: Option<i64>, error: Option<&str>| JobTry {
            attempt,
            began: at(began).to_string(),
            ended: ended.map(|ended| at(ended).to_string()),
            error: error.map(str::to_owned),
        };
        let wanted = [
            job_try(1, 0, None, None),
            job_try(2, 30, Some(31), Some("no answer")),
            job_try(3, 35, Some(36), None),
        ];
        assert_eq!(tries, wanted);
        assert_eq!(wait(db.read(move |tx| jobs::find(tx, id + 2))).unwrap(), None);
    });
}

#[test]
fn a_job_that_always_fails_is_given_up() {
    on_both(|db| {
        wait(db.write(|tx| jobs::add(tx, at(0), "mail", "{}"))).unwrap();
        for attempt in 1..=JOB_MAX_ATTEMPTS {
            let now = attempt * 4000;
            let job = claim(db, now).unwrap();
            assert_eq!(job.attempt, attempt);
            wait(db.write(move |tx| jobs::fail(tx, at(now), &job, "no answer"))).unwrap();
        }
        assert_eq!(claim(db, 1_000_000), None);
    });
}

#[test]
fn no_two_workers_get_one_job() {
    on_both(|db| {
        wait(db.write(|tx| (0..40).try_for_each(|_| jobs::add(tx, at(0), "mail", "{}").map(drop))))
            .unwrap();
        let taken = wait(async {
            let workers: Vec<_> = (0..60)
                .map(|_| {
                    let db = db.clone();
                    tokio::spawn(async move {
                        db.write(|tx| jobs::claim(tx, at(1), "mail", 30)).await.unwrap()
                    })
                })
                .collect();
            let mut taken = Vec::new();
            for worker in workers {
                taken.extend(worker.await.unwrap().map(|job| job.id));
            }
            taken
        });
        let distinct: BTreeSet<i64> = taken.iter().copied().collect();
        assert_eq!(taken.len(), distinct.len());
        // A worker that meets only locked rows goes away empty; nothing is lost by that.
        let rest = std::iter::from_fn(|| claim(db, 1)).count();
        assert_eq!(taken.len() + rest, 40);
    });
}
