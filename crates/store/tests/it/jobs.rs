use std::collections::BTreeSet;

use lyceum_core::time::{Clock, SystemClock};
use lyceum_store::Db;
use lyceum_store::jobs::{self, ClaimedJob};
use lyceum_store::limits::JOB_MAX_ATTEMPTS;
use lyceum_testkit::jobs::pass_seconds;

use crate::{on_both, wait};

fn claim(db: &Db) -> Option<ClaimedJob> {
    wait(db.write(|tx| jobs::claim(tx, "mail", 300))).unwrap()
}

#[test]
fn a_job_is_claimed_again_until_it_is_finished() {
    on_both(|db| {
        let begun = SystemClock.now().to_string();
        let id = wait(db.write(|tx| jobs::add(tx, "mail", "{}"))).unwrap();
        wait(db.write(|tx| jobs::add(tx, "other", "{}"))).unwrap();
        let is_due = |kind| wait(db.read(move |tx| jobs::is_due(tx, kind))).unwrap();
        assert!(is_due("mail") && !is_due("unknown"));
        let first = claim(db).unwrap();
        assert_eq!((first.id, first.attempt, first.payload.as_str()), (id, 1, "{}"));
        pass_seconds(db, 200);
        assert_eq!(claim(db), None, "the lease hides it");
        let job = first.clone();
        assert!(wait(db.write(move |tx| jobs::renew(tx, &job, 300))).unwrap());
        pass_seconds(db, 200);
        assert!(claim(db).is_none() && !is_due("mail"), "the lease was renewed");
        pass_seconds(db, 100);
        let second = claim(db).expect("the lease has ended");
        assert_eq!(second.attempt, 2);
        let late = first.clone();
        assert!(!wait(db.write(move |tx| jobs::finish(tx, &late))).unwrap(), "it was taken away");
        let job = second.clone();
        assert!(wait(db.write(move |tx| jobs::fail(tx, &job, &"no answer".into()))).unwrap());
        assert_eq!(claim(db), None, "it waits for four seconds");
        pass_seconds(db, 4);
        let third = claim(db).unwrap();
        assert!(wait(db.write(move |tx| jobs::finish(tx, &third))).unwrap());
        pass_seconds(db, 100_000);
        assert_eq!(claim(db), None);

        // Each try: one lost its worker, one failed, one did it.
        let (seen, tries) = wait(db.read(move |tx| jobs::find(tx, id))).unwrap().unwrap();
        assert_eq!((seen.state.as_str(), seen.attempts), ("done", 3));
        let outcomes: Vec<_> = tries
            .iter()
            .map(|tried| (tried.attempt, tried.ended.is_some(), tried.error.clone()))
            .collect();
        assert_eq!(
            outcomes,
            [(1, false, None), (2, true, Some("no answer".into())), (3, true, None)]
        );
        let ends = tries.iter().flat_map(|tried| [Some(&tried.began), tried.ended.as_ref()]);
        let times: Vec<&String> = ends.flatten().collect();
        let now = SystemClock.now().to_string();
        assert!(times.is_sorted() && *times[0] >= begun && *times[4] <= now, "{times:?}");
        assert_eq!(wait(db.read(move |tx| jobs::find(tx, id + 2))).unwrap(), None);
    });
}

#[test]
fn a_job_that_always_fails_is_given_up() {
    on_both(|db| {
        wait(db.write(|tx| jobs::add(tx, "mail", "{}"))).unwrap();
        for attempt in 1..=JOB_MAX_ATTEMPTS {
            let job = claim(db).unwrap();
            assert_eq!(job.attempt, attempt);
            wait(db.write(move |tx| jobs::fail(tx, &job, &"no answer".into()))).unwrap();
            pass_seconds(db, 4000);
        }
        assert_eq!(claim(db), None);
    });
}

#[test]
fn no_two_workers_get_one_job() {
    on_both(|db| {
        wait(db.write(|tx| (0..40).try_for_each(|_| jobs::add(tx, "mail", "{}").map(drop))))
            .unwrap();
        let taken = wait(async {
            let workers: Vec<_> = (0..60)
                .map(|_| {
                    let db = db.clone();
                    tokio::spawn(async move {
                        db.write(|tx| jobs::claim(tx, "mail", 300)).await.unwrap()
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
        let rest = std::iter::from_fn(|| claim(db)).count();
        assert_eq!(taken.len() + rest, 40);
    });
}
