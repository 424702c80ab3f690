//! `lyceum admin adopt` and `lyceum admin gc` with the objects of other installations in a bucket.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use lyceum_blob::Digest;
use lyceum_core::config::Config;
use lyceum_core::time::{Clock, SystemClock, Timestamp};
use lyceum_hosting::installations::{self, StoreMark};
use lyceum_hosting::replicas;
use lyceum_store::{Db, StoreLocation};
use lyceum_testkit::s3::Bucket;
use serde_json::json;

use crate::admin::migrated_places;
use crate::transcript::Place;

const DAY_S: i64 = 86_400;

/// A database whose settings name a bucket.
struct Installed {
    place: Place,
    bucket: Bucket,
    config: Config,
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
    Installed { place, bucket, config }
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

    /// Ends the present installation, as a restore does. Returns its id and that of the next one.
    fn restored(&self) -> [String; 2] {
        let ids = self.db().write_blocking(|tx| {
            let before = installations::present(tx, ago(0))?;
            installations::end(tx, ago(0))?;
            Ok([before, installations::present(tx, ago(0))?])
        });
        ids.unwrap()
    }

    /// Stores the mark that servers of an installation stored so many seconds ago.
    fn mark(&self, installation: &str, seconds: i64) {
        let replicas = replicas::store(&self.config).unwrap().unwrap();
        replicas.below(installation).set_mark(&StoreMark::new("m", ago(seconds))).unwrap();
    }

    /// Stores an object so many days ago, and returns its file.
    fn object(&self, place: &str, days: u64) -> PathBuf {
        let name = Digest::of(place.as_bytes()).to_string();
        let file = self.bucket.folder.path().join("files/school").join(place).join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, place).unwrap();
        let file_of = fs::File::options().write(true).open(&file).unwrap();
        let written = file_of.metadata().unwrap().modified().unwrap();
        file_of.set_modified(written - Duration::from_hours(24 * days)).unwrap();
        file
    }

    fn is_refused(&self, line: &str, exit_code: i32, reason: &str) {
        let (code, told) = self.place.fails(line);
        assert_eq!(code, exit_code, "{told}");
        assert!(told.contains(reason), "{told}");
    }
}

#[test]
#[ignore = "rest"]
fn an_installation_is_adopted_once_its_servers_are_silent_and_nobody_else_may_need_it() {
    for place in migrated_places() {
        let installed = installed(place);
        let [former, present] = installed.restored();
        let adopt = format!("admin adopt {former}");
        let (_, found, _) = installed.place.run("doctor");
        assert!(found.contains(&former), "{found}");
        installed.is_refused("admin adopt nothing", 4, "no installation has the id");
        installed.is_refused(&format!("admin adopt {present}"), 5, "present installation");
        installed.mark(&former, 870);
        installed.is_refused(&adopt, 5, "may run");
        installed.mark(&former, 910);
        installed.mark("trial", 20 * DAY_S);
        installed.is_refused(&adopt, 5, "the installation 'trial' used");
        installed.mark("trial", 31 * DAY_S);
        installed.place.ok(&adopt);
        let ids = installed.db().read_blocking(installations::bucket_ids).unwrap();
        assert_eq!((ids.present, ids.adopted), (present, vec![former.clone()]));
        let (_, found, _) = installed.place.run("doctor");
        assert!(!found.contains(&former), "{found}");
        installed.mark("trial", 20 * DAY_S);
        installed.mark("other", 20 * DAY_S);
        installed.place.ok("admin adopt other --force");
    }
}

#[test]
#[ignore = "rest"]
fn objects_that_nobody_owns_are_listed_and_then_deleted() {
    for place in migrated_places() {
        let installed = installed(place);
        let [former, present] = installed.restored();
        for (id, days) in [(&*present, 0), (&*former, 40), ("silent", 40)] {
            installed.mark(id, days * DAY_S);
        }
        let kept = [
            // Sweeps delete them.
            installed.object(&format!("objects/{present}/hosting"), 40),
            // It was just deleted.
            installed.object(&format!("objects/{present}/projects/trees"), 0),
            installed.object("objects/unknown/hosting", 2),
        ];
        let unowned = [
            installed.object(&format!("objects/{present}/projects/rivers"), 2),
            installed.object(&format!("objects/{former}/hosting"), 40),
            installed.object("objects/silent/projects/rivers", 40),
            installed.object("hosting", 40),
        ];
        let objects = |found: &serde_json::Value| {
            let of = found["unowned"].as_object().unwrap().iter();
            of.map(|(id, of)| (id.clone(), of["objects"].clone())).collect::<Vec<_>>()
        };
        // Another database may need what is read-only here.
        let found = installed.place.json("admin gc --json");
        assert_eq!(objects(&found), [(present.clone(), json!(1))]);
        fs::remove_file(&kept[2]).unwrap();
        installed.mark("trial", 20 * DAY_S);
        assert_eq!(objects(&installed.place.json("admin gc --json")), objects(&found));
        installed.mark("trial", 31 * DAY_S);
        assert_eq!(objects(&installed.place.json("admin gc --json")).len(), 4);
        assert!(unowned.iter().all(|file| file.exists()));
        installed.place.ok("admin gc --confirm");
        assert!(!unowned.iter().any(|file| file.exists()));
        assert!(kept[..2].iter().all(|file| file.exists()));
    }
}
