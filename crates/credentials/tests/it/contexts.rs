//! The embedded contexts are the published ones.

use crate::standards;

const ELSEWHERE: [&str; 5] = [
    "NOTICE.md",
    "data-integrity-v2.jsonld",
    "multikey-v1.jsonld",
    "vc-bitstring-status-list-v1.jsonld",
    "vc-status-list-2021-v1.jsonld",
];

#[test]
fn embedded_contexts_are_the_published_ones() {
    let Some(standards) = standards::folder("the contexts") else { return };
    let embedded = concat!(env!("CARGO_MANIFEST_DIR"), "/contexts");
    let mut compared = 0;
    for entry in std::fs::read_dir(embedded).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let folders = ["w3c-vc/context", "openbadges/context", "clr/context"];
        let published = folders.map(|folder| standards.join(folder).join(&name));
        let Some(published) = published.iter().find(|path| path.exists()) else {
            // Those that the standards' own files do not have came from their publisher alone.
            assert!(ELSEWHERE.contains(&name.as_str()), "{name}");
            continue;
        };
        assert!(
            std::fs::read(entry.path()).unwrap() == std::fs::read(published).unwrap(),
            "{name} differs"
        );
        compared += 1;
    }
    assert_eq!(compared, 13);
}
