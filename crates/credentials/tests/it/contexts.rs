//! The embedded contexts are the published ones.

use crate::standards;

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
            assert_eq!(name, "NOTICE.md");
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
