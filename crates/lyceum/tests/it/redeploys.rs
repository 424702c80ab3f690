//! What people see while they deploy again and again.

use crate::deploy::{project, staging};
use crate::served::Store;
use crate::transcript::Place;

#[test]
fn a_list_of_versions_names_the_key_that_deployed_them() {
    let served = staging(Store::Sqlite);
    let key = served.run(&["admin", "key", "create", "ci", "--env", "staging"]);
    let place = Place::new().with("LYCEUM_URL", &served.base).with("LYCEUM_API_KEY", key.trim());
    project(&place);
    place.ok("deploy --yes");
    let listed = place.ok("deployments list");
    assert!(listed.contains("the key 'ci'") && !listed.contains("key_"), "{listed}");
    let versions = place.json("deployments list --json");
    assert_eq!(versions["deployments"][0]["madeByName"], "the key 'ci'");
}
