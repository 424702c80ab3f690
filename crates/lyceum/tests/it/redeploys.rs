//! Visitors get answers while a project is deployed again and again.

use std::fs;

use crate::deploy::{place_at, project, staging};
use crate::served::Store;
use crate::transcript::Place;
use crate::typing::Typing;

#[test]
#[ignore = "rest"]
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

#[test]
#[ignore = "rest"]
fn a_backend_that_is_replaced_does_not_seem_to_crash() {
    let place = Place::new();
    project(&place);
    let mut dev = Typing::start(&place, "dev --port 0 --no-sandbox --verbose");
    dev.sees("ready in ");
    place.write("server/greet.ts", "export const greet = (name: string) => `Hi ${name}`;\n");
    dev.sees("the process ended: ");
    let why = dev.sees("\r\n");
    assert_eq!(why.trim(), "it is no longer needed");
    dev.interrupt().end();
}

#[test]
#[ignore = "rest"]
fn packing_a_large_build_shows_its_progress() {
    let served = staging(Store::Sqlite);
    let place = place_at(&served);
    let noise = |seed: u32| {
        let step = |n: u32| (n.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 24) as u8;
        (0..8 << 20).map(step).collect::<Vec<u8>>()
    };
    for number in 0..4 {
        fs::write(place.path().join(format!("dist/{number}.bin")), noise(number)).unwrap();
    }
    // A dumb terminal, which these tests use otherwise, cannot show a bar.
    let place = place.with("TERM", "xterm");
    let mut deploy = Typing::start(&place, "deploy --dry-run");
    deploy.sees("Packing");
    deploy.sees("%");
    assert_eq!(deploy.end().0, 0);
    assert!(!place.run("deploy --dry-run").2.contains("Packing"), "no bar outside of a terminal");
}
