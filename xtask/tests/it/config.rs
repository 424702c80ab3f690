//! The default configuration is its own documentation.

use crate::{read, refuse};

const FILE: &str = "crates/core/src/config.default.toml";

#[test]
fn every_configuration_key_is_explained() {
    let mut breaches = Vec::new();
    let mut explained = false;
    let mut keys = 0;
    for (index, line) in read(FILE).lines().enumerate() {
        let line = line.trim();
        if is_key(line) {
            keys += 1;
            if !explained {
                breaches.push(format!("{FILE}:{}: {line}", index + 1));
            }
            explained = false;
        } else {
            explained = line.starts_with("# ");
        }
    }
    assert!(keys > 5, "{FILE} holds only {keys} keys");
    refuse(
        &breaches,
        "each key of the default configuration has a comment directly above it",
        "the file is what people read to learn which keys there are",
        "write above the key what it does, in which unit, and when one changes it",
    );
}

/// A key with its value; also one that is shown commented out because it has no default.
fn is_key(line: &str) -> bool {
    let text = line.strip_prefix('#').unwrap_or(line);
    text.split_once(" = ").is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    })
}
