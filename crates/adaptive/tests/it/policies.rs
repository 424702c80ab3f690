//! The policy that is in force, on both stores.

use lyceum_adaptive::{BuiltInPolicy, LessonType, MIGRATIONS, Policy, policies};
use lyceum_core::ProblemKind;
use lyceum_core::time::Timestamp;
use lyceum_store::Db;
use lyceum_testkit::both_stores;

const NOW: &str = "2026-01-15T08:00:00.000Z";

#[test]
fn former_versions_of_a_policy_are_kept() {
    both_stores(MIGRATIONS, |target| {
        let kind = LessonType::Powerpath100;
        let shipped = Policy::shipped(kind);
        let other = Policy::of(kind, BuiltInPolicy::Diminishing);
        let db = Db::open(target, MIGRATIONS).unwrap();
        let now: Timestamp = NOW.parse().unwrap();
        let set = |policy: &Policy| {
            db.write_blocking(|tx| policies::set(tx, now, policy)).unwrap().number
        };
        let current = || db.read_blocking(|tx| policies::current(tx, kind)).unwrap();

        assert_eq!(
            (current().number, current().created_at, current().policy),
            (0, None, shipped.clone())
        );
        assert_eq!(set(&shipped), 0, "what is in force keeps its number");
        assert_eq!(set(&other), 1);
        assert_eq!(set(&other), 1);
        assert_eq!(current().created_at.as_deref(), Some(NOW));
        assert_eq!(set(&shipped), 2, "also the policy that is compiled in can follow another");
        assert_eq!((current().number, current().policy), (2, shipped.clone()));

        let db = Db::open(target, MIGRATIONS).unwrap();
        let version = |number| db.read_blocking(|tx| policies::version(tx, kind, number));
        for (number, policy) in [(0, &shipped), (1, &other), (2, &shipped)] {
            assert_eq!(version(number).unwrap().policy, *policy, "version {number}");
        }
        assert_eq!(version(3).unwrap_err().kind, ProblemKind::NotFound);
        assert_eq!(version(-1).unwrap_err().kind, ProblemKind::NotFound);
        let listed = db.read_blocking(|tx| policies::list(tx, kind)).unwrap();
        assert_eq!(listed.iter().map(|version| version.number).collect::<Vec<_>>(), [2, 1, 0]);

        let quiz = db.read_blocking(|tx| policies::current(tx, LessonType::Quiz)).unwrap();
        assert_eq!(quiz.number, 0, "each type has versions of its own");
    });
}
