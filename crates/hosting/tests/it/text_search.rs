//! Texts in the files of projects are found without changing the files.

use lyceum_hosting::backup::NamedFiles;
use lyceum_hosting::nodes::{Node, NodeSettings};
use lyceum_hosting::text_search::{FoundTable, tables_with};
use rusqlite::Connection;

#[test]
fn tables_of_projects_with_a_text_are_listed_with_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let about = NodeSettings { name: "node", address: "127.0.0.1:1", shares_blobs: false };
    let (node, _lock) = Node::of_folder(folder.path(), &about).unwrap();
    let mut named = NamedFiles::default();
    for project in ["rivers", "seas"] {
        let place = node.folder_of(project);
        std::fs::create_dir_all(&place).unwrap();
        named
            .projects
            .insert(project.to_owned(), vec!["d1.sqlite".into(), "missing.sqlite".into()]);
        let database = Connection::open(place.join("d1.sqlite")).unwrap();
        let tables = "CREATE TABLE \"a table\" (id INTEGER, note TEXT, data BLOB); CREATE TABLE other (x TEXT)";
        database.execute_batch(tables).unwrap();
        if project == "rivers" {
            let rows = "INSERT INTO \"a table\" VALUES (1, 'by Pat@Example.org.', NULL), (2, NULL, 'user-4711'), \
                        (3, 'user-471', x'00'), (4, 'pat@example.org', 'pat@example.org')";
            database.execute_batch(rows).unwrap();
        }
    }
    let before = std::fs::read(node.folder_of("rivers").join("d1.sqlite")).unwrap();
    let terms = ["pat@example.org".to_owned(), "user-4711".to_owned()];
    let found = tables_with(&node, &named, &terms, || ()).unwrap();
    let expected = FoundTable {
        project: "rivers".into(),
        file: "d1.sqlite".into(),
        table: "a table".into(),
        rows: 3,
    };
    assert_eq!(found, [expected]);
    assert_eq!(std::fs::read(node.folder_of("rivers").join("d1.sqlite")).unwrap(), before);
}
