//! Courses and resources as Common Cartridges.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

use lyceum_core::{ProblemKind, Reach};
use lyceum_roster::cartridge::CartridgeContent;
use lyceum_store::Db;
use serde_json::{Value, json};

use crate::courses::{course, put_course, resource};
use crate::kit::both;

fn unzipped(db: &Db, id: &str) -> BTreeMap<String, String> {
    let content =
        db.read_blocking(|tx| CartridgeContent::read(tx, id, &Reach::Everything)).unwrap();
    let bytes = content.write().unwrap();
    assert_eq!(bytes, content.write().unwrap(), "the same content, the same bytes");
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    assert_eq!(zip.by_index(0).unwrap().name().unwrap(), "imsmanifest.xml");
    (0..zip.len())
        .map(|at| {
            let mut file = zip.by_index(at).unwrap();
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            (file.name().unwrap().into_owned(), text)
        })
        .collect()
}

fn child<'a>(node: roxmltree::Node<'a, 'a>, name: &str) -> roxmltree::Node<'a, 'a> {
    node.children().find(|child| child.tag_name().name() == name).unwrap()
}

/// The items of an organization as titles with what they lead to and hold.
fn items(node: roxmltree::Node<'_, '_>, lead: &dyn Fn(&str) -> Value) -> Vec<Value> {
    node.children()
        .filter(|child| child.tag_name().name() == "item")
        .map(|item| {
            let title = item.children().find(|c| c.tag_name().name() == "title").unwrap();
            let title = title.text().unwrap_or_default();
            match item.attribute("identifierref") {
                Some(to) => json!([title, lead(to)]),
                None => json!({title: items(item, lead)}),
            }
        })
        .collect()
}

/// The organization of a cartridge; each item leads to the address or the record of its resource.
fn organization(files: &BTreeMap<String, String>) -> Vec<Value> {
    let manifest = roxmltree::Document::parse(&files["imsmanifest.xml"]).unwrap();
    let root = manifest.root_element();
    assert_eq!(
        root.tag_name().namespace(),
        Some("http://www.imsglobal.org/xsd/imsccv1p3/imscp_v1p1")
    );
    let metadata = child(root, "metadata");
    assert_eq!(child(metadata, "schema").text(), Some("IMS Common Cartridge"));
    assert_eq!(child(metadata, "schemaversion").text(), Some("1.3.0"));
    let resources = child(root, "resources");
    let listed: Vec<&str> = resources
        .descendants()
        .filter_map(|node| (node.tag_name().name() == "file").then(|| node.attribute("href"))?)
        .collect();
    assert_eq!(listed.len() + 1, files.len(), "every file is listed, and no other");
    let lead = |identifier: &str| {
        let resource = resources
            .children()
            .find(|node| node.attribute("identifier") == Some(identifier))
            .unwrap();
        let file = child(resource, "file").attribute("href").unwrap();
        if resource.attribute("type") == Some("imswl_xmlv1p3") {
            let link = roxmltree::Document::parse(&files[file]).unwrap();
            return child(link.root_element(), "url").attribute("href").unwrap().into();
        }
        assert_eq!(resource.attribute("type"), Some("webcontent"));
        assert_eq!(resource.attribute("href"), Some(file));
        serde_json::from_str::<Value>(&files[file]).unwrap()["sourcedId"].clone()
    };
    let organization = child(child(root, "organizations"), "organization");
    assert_eq!(organization.attribute("structure"), Some("rooted-hierarchy"));
    items(child(organization, "item"), &lead)
}

#[test]
fn a_cartridge_has_the_tree_in_order_with_all_links_and_files() {
    both(|db| {
        let link = |title: &str, resource: Value| json!({"title": title, "resource": resource});
        let body = course(
            "c & d",
            json!([
                {"title": "Unit <1>", "componentResources": [
                    link("Video", resource("video", json!({"url": "https://example.org/v?a=1&b=\"2\""}))),
                    link("Test", resource("test", json!({"type": "qti"}))),
                    link("App", resource("app", json!({"launchUrl": "https://app.example.org/"}))),
                    link("Test again", json!({"sourcedId": "test"})),
                 ], "subComponents": [
                    {"title": "Lesson 1 \u{1} bell"},
                    {"title": "Empty", "subComponents": [{"title": "Deeper"}]},
                ]},
                {"title": "Another"},
            ]),
        );
        put_course(db, &body);
        let files = unzipped(db, "c & d");
        let expected = json!([
            {"Unit <1>": [
                ["Video", "https://example.org/v?a=1&b=\"2\""],
                ["Test", "test"],
                ["App", "https://app.example.org/"],
                ["Test again", "test"],
                {"Lesson 1  bell": []},
                {"Empty": [{"Deeper": []}]},
            ]},
            {"Another": []},
        ]);
        assert_eq!(json!(organization(&files)), expected);
        assert_eq!(files.len(), 4, "the manifest and three resources");

        let one = unzipped(db, "test");
        assert_eq!(organization(&one), [json!(["test", "test"])]);
        let none = db.read_blocking(|tx| CartridgeContent::read(tx, "nothing", &Reach::Everything));
        assert_eq!(none.unwrap_err().kind, ProblemKind::NotFound);
    });
}
