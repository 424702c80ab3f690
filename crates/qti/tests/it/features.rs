//! The table of features in the crate's documentation against the code and these tests.

use lyceum_qti::features::count;

#[test]
fn the_table_of_features_has_the_right_counts_and_existing_tests() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources: String = std::fs::read_dir(here.join("tests/it"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let table = include_str!("../../src/features.md");
    let mut lines = 0;
    for line in table.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (feature, counted, test) = (cells[1], cells[2], cells[3].trim_matches('`'));
        assert!(sources.contains(&format!("fn {test}()")), "{feature}: there is no test {test}");
        let expected = count(feature).map_or_else(|| "-".to_owned(), |count| count.to_string());
        assert_eq!(counted, expected, "{feature}");
        lines += 1;
    }
    assert!(lines > 20, "{lines} lines");
}
