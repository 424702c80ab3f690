//! The rough cost of issuing and verifying; the bench measures it. Here a bound that a mistake of an
//! order breaks.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lyceum_credentials::verify::verify;

use crate::samples::{badge, signed};

#[test]
#[ignore = "rest"]
fn a_badge_is_signed_and_verified_quickly() {
    let credential = signed(badge()).to_string();
    let now = "2026-06-01T00:00:00Z".parse().unwrap();
    let each = |call: &dyn Fn()| {
        call();
        let begun = Instant::now();
        (0..20).for_each(|_| call());
        begun.elapsed() / 20
    };
    let issue = each(&|| drop(signed(badge())));
    let check = each(&|| drop(verify(credential.as_bytes(), &BTreeMap::new(), now)));
    println!("issue {issue:?}, verify {check:?}");
    assert!(issue + check < Duration::from_millis(200), "issue {issue:?}, verify {check:?}");
}
