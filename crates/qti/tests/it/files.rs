//! The files beside a document.

use lyceum_qti::{FileReference, file_path, referenced_files};

use crate::kit::item_xml;

#[test]
fn a_reference_names_a_file_below_the_document() {
    for (reference, path) in [
        ("images/a.png", "images/a.png"),
        (" ./images//b/../a%20b.png?x=1#y ", "images/a b.png"),
        ("../images/a.png", "images/a.png"),
        ("../../a.png", "a.png"),
    ] {
        assert_eq!(file_path(reference).as_deref(), Some(path), "{reference}");
    }
    for elsewhere in [
        "https://example.org/a.png",
        "data:image/png;base64,x",
        "//example.org/a.png",
        "/a.png",
        "#a",
        "",
        "..",
        "a\\b.png",
        "%2Fetc/a.png",
        "C:a.png",
    ] {
        assert_eq!(file_path(elsewhere), None, "{elsewhere}");
    }
}

#[test]
fn all_files_of_a_document_are_found_once() {
    let xml = item_xml(
        "<qti-stylesheet href=\"../look.css\" type=\"text/css\"/><qti-item-body><p><img src=\"a.png\" alt=\"\"/>\
         <img src=\"./a.png\" alt=\"\"/><img src=\"https://example.org/b.png\" alt=\"\"/></p>\
         <object type=\"image/png\" data=\"c.png\"/><video poster=\"d.jpg\"><source src=\"e.mp4\"/>\
         <track src=\"f.vtt\"/></video><audio src=\"g.mp3\"/></qti-item-body>",
    );
    let found = referenced_files(&xml).unwrap();
    let paths: Vec<&str> = found.iter().map(|reference| reference.path.as_str()).collect();
    assert_eq!(paths, ["look.css", "a.png", "c.png", "d.jpg", "e.mp4", "f.vtt", "g.mp3"]);
    assert_eq!(found[0], FileReference { path: "look.css".into(), folders_up: 1 });
}
