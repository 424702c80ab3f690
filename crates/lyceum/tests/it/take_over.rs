//! `lyceum admin take-over` with a bucket that another installation owns, or whose owner is in doubt.

use lyceum_core::config::Config;
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_hosting::installations;
use lyceum_hosting::owners::{self, BucketOwner, OwnerState};
use lyceum_hosting::replicas::{self, ReplicaStore};
use lyceum_store::{Db, StoreLocation};
use lyceum_testkit::s3::Bucket;

use crate::admin::migrated_places;
use crate::transcript::Place;

/// Seconds ago of an instant that is years ahead.
const YEARS_AHEAD: i64 = -100_000_000;

/// A database whose settings name a bucket.
struct Installed {
    place: Place,
    _bucket: Bucket,
    config: Config,
    store: ReplicaStore,
}

fn installed(mut place: Place) -> Installed {
    let bucket = Bucket::start();
    let s3 = &bucket.settings;
    for (name, value) in [
        ("BUCKET", s3.bucket.as_str()),
        ("ENDPOINT", s3.endpoint.as_str()),
        ("REGION", s3.region.as_str()),
        ("PREFIX", s3.prefix.as_str()),
        ("ACCESS_KEY", "key"),
        ("SECRET_KEY", "secret"),
    ] {
        place.set(&format!("LYCEUM_S3__{name}"), value);
    }
    place.ok("client create x --id x");
    let mut config = Config::defaults();
    config.s3 = s3.clone();
    let store = owners::store(&config).unwrap().unwrap();
    Installed { place, _bucket: bucket, config, store }
}

/// The instant so many seconds ago.
fn ago(seconds: i64) -> Timestamp {
    SystemClock.now().plus_seconds(-seconds)
}

impl Installed {
    fn db(&self) -> Db {
        let target = match self.place.variable("LYCEUM_STORE__DATABASE") {
            None => StoreLocation::Sqlite(self.place.path().join("lyceum-data/lyceum.db")),
            Some(url) => StoreLocation::Postgres(url.to_owned()),
        };
        Db::open(&target, &lyceum_api::migrations()).unwrap()
    }

    /// Stores the mark that servers of an installation stored with its replicas at a time.
    fn mark_replicas(&self, installation: &str, at: Timestamp) {
        let replicas = replicas::store(&self.config).unwrap().unwrap();
        replicas.below(installation).set_mark(&installations::new_mark(at)).unwrap();
    }

    fn is_refused(&self, line: &str, reason: &str) {
        let before = self.store.owner().unwrap();
        let (code, told) = self.place.fails(line);
        assert_eq!(code, 5, "{told}");
        let installation = &before.as_ref().unwrap().installation;
        assert!(told.contains(reason) && told.contains(installation), "{told}");
        assert_eq!(self.store.owner().unwrap(), before);
    }

    fn owns(&self) {
        let (owner, is_in_doubt) =
            (self.store.owner().unwrap(), self.store.is_owner_in_doubt().unwrap());
        let state = self.db().read_blocking(|tx| owners::state(tx, owner.as_ref(), is_in_doubt));
        assert_eq!(state.unwrap(), OwnerState::Own);
    }
}

/// Makes the installation of another database the owner, with a mark of that time.
fn owned_by_another(installed: &Installed, at: Timestamp) -> BucketOwner {
    let folder = tempfile::tempdir().unwrap();
    let target = StoreLocation::Sqlite(folder.path().join("lyceum.db"));
    let db = Db::open(&target, &lyceum_api::migrations()).unwrap();
    let (owner, _) = db.write_blocking(|tx| owners::take_over(tx, at)).unwrap();
    installed.store.set_owner(&owner).unwrap();
    owner
}

#[test]
#[ignore = "rest"]
fn a_bucket_is_not_taken_from_servers_that_used_it_within_15_minutes() {
    for place in migrated_places() {
        let installed = installed(place);
        for at in [ago(870), ago(0), ago(-60), ago(-23 * 60 * 60)] {
            owned_by_another(&installed, at);
            installed.is_refused("admin take-over", "so they may run");
            installed.is_refused("admin take-over --others-stopped", "so they may run");
        }
        // Its replicas have a mark, too.
        let owner = owned_by_another(&installed, ago(3600));
        installed.mark_replicas(&owner.installation, ago(60));
        installed.is_refused("admin take-over", "stored replicas at");
        installed.mark_replicas(&owner.installation, ago(910));
        let (code, _, told) = installed.place.run("admin take-over");
        assert!(code == 0 && told.contains("owns the S3 bucket 'files'"), "{told}");
        installed.owns();
        // A clock that was years ahead hides no other sign of life, and does not keep the bucket for years.
        let owner = owned_by_another(&installed, ago(30));
        installed.mark_replicas(&owner.installation, ago(YEARS_AHEAD));
        installed.is_refused("admin take-over", "used the S3 bucket at");
        let owner = owned_by_another(&installed, ago(YEARS_AHEAD));
        installed.mark_replicas(&owner.installation, ago(30));
        installed.is_refused("admin take-over", "stored replicas at");
        installed.mark_replicas(&owner.installation, ago(YEARS_AHEAD));
        installed.place.ok("admin take-over");
        installed.owns();
    }
}

#[test]
#[ignore = "rest"]
fn a_bucket_whose_owner_is_in_doubt_is_taken_once_somebody_says_that_the_others_stopped() {
    for place in migrated_places() {
        let installed = installed(place);
        // A copy of the database replaced the mark of the original, which began a new installation then.
        let split = installed.db().write_blocking(|tx| {
            let owner = owners::renewed(tx, ago(3600), None, true)?.expect("there was none");
            let present = installations::present(tx, ago(3600))?;
            installations::replace(tx, ago(3600), &present)?;
            Ok(owner)
        });
        let owner = split.unwrap();
        installed.store.set_owner(&owner).unwrap();
        installed.store.set_owner_in_doubt(true).unwrap();
        installed.is_refused("admin take-over", "add `--others-stopped`");
        // The servers of the copy replace only the mark of their replicas.
        installed.mark_replicas(&owner.installation, ago(60));
        installed.is_refused("admin take-over --others-stopped", "so they may run");
        installed.mark_replicas(&owner.installation, ago(910));
        installed.is_refused("admin take-over", "add `--others-stopped`");
        installed.place.ok("admin take-over --others-stopped");
        installed.owns();

        // A copy that was restored in another way calls itself by the same name. The servers of this database may run.
        let own = installed.store.owner().unwrap().unwrap();
        installed.mark_replicas(&own.installation, ago(0));
        installed.store.set_owner_in_doubt(true).unwrap();
        installed.is_refused("admin take-over", "add `--others-stopped`");
        installed.place.ok("admin take-over --others-stopped");
        installed.owns();
        // The mark of the copy would show the next start of a server that there is one.
        let present = installed.db().write_blocking(|tx| installations::present(tx, ago(0)));
        assert_ne!(present.unwrap().id, own.installation);
    }
}
