//! The sizes that `cargo xtask pack` prints. Cargo, npm and Node are scripts here; `packages.rs` of the program makes
//! real packages.

use crate::demo::{script, scripts, text, xtask_with};

/// Packs a program for npm whose package has so many bytes; whether that succeeds, and what is printed.
fn pack(bytes: u32, flags: &[&str]) -> (bool, String) {
    let scripts = scripts();
    // The arguments are the script, the program and the folder.
    let node = format!(
        "#!/bin/sh\nmkdir -p \"$3\" && truncate --size {bytes} \"$3/lyceum-cli-0.1.0.tgz\"\n"
    );
    script(&scripts.path().join("bin/node"), &node);
    let out = scripts.path().join("packages");
    let arguments = [&["pack", "npm", "--out", out.to_str().unwrap()], flags].concat();
    let output = xtask_with(scripts.path(), &arguments).output().unwrap();
    (output.status.success(), text(&output.stdout) + &text(&output.stderr))
}

#[test]
fn an_npm_package_of_a_release_above_15_mb_is_reported() {
    let (is_packed, printed) = pack(15_000_000, &[]);
    assert!(is_packed && printed.contains("program has 15.0 MB"), "{printed}");
    let (is_packed, printed) = pack(15_000_001, &[]);
    assert!(is_packed && printed.contains("15000001 bytes; the goal is 15000000"), "{printed}");
    let (is_packed, printed) = pack(50_000_000, &["--program", "debug/lyceum"]);
    assert!(is_packed && printed.contains("program has 50.0 MB"), "{printed}");
}
