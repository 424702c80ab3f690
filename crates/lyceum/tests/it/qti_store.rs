//! `lyceum qti import` and `lyceum qti export`, on both stores.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use lyceum_assessment::files::{self as stored, NewFile};
use lyceum_assessment::{CheckedDocument, ContentKind, Object, repository};
use lyceum_blob::Digest;
use lyceum_core::time::Timestamp;
use lyceum_store::{Db, StoreLocation};
use serde_json::json;

use crate::admin::migrated_places;
use crate::qti::{MAPPED, item, test, write_all};
use crate::transcript::Place;

const STIMULUS: &str = "<?xml version=\"1.0\"?>\r\n<qti-assessment-stimulus \
    xmlns=\"http://www.imsglobal.org/xsd/imsqtiasi_v3p0\" identifier=\"text\" title=\"Text\">\r\n\
    <qti-stimulus-body><p>Read</p></qti-stimulus-body></qti-assessment-stimulus>\r\n";

const OLD: &str = "\u{feff}<assessmentItem xmlns=\"http://www.imsglobal.org/xsd/imsqti_v2p2\" \
    identifier=\"old\" title=\"Old\" adaptive=\"false\" timeDependent=\"false\">\
    <itemBody><p>\u{fc}</p></itemBody></assessmentItem>";

/// An item that is read with a stimulus.
fn with_text(identifier: &str) -> String {
    item(identifier, MAPPED).replace(
        "  <qti-item-body>",
        "  <qti-assessment-stimulus-ref identifier=\"text\" href=\"../stimuli/text.xml\"/>\n  \
         <qti-item-body>",
    )
}

fn set() -> Vec<(&'static str, String)> {
    vec![
        ("set/1-exam.xml", test(&[("water", "items/water.xml"), ("old", "items/old.xml")])),
        ("set/items/old.xml", OLD.to_owned()),
        ("set/items/water.xml", with_text("water")),
        ("set/items/other.xml", item("Water", MAPPED)),
        ("set/stimuli/text.xml", STIMULUS.to_owned()),
        ("set/imsmanifest.xml", "<manifest/>".to_owned()),
    ]
}

/// Every file below a folder, by its path there.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn content_is_stored_and_exported_byte_by_byte() {
    for place in migrated_places() {
        write_all(&place, &set());
        assert_eq!(
            place.ok("qti import set"),
            "kind     created  updated  unchanged\n\
             stimuli  1        0        0\n\
             items    3        0        0\n\
             tests    1        0        0\n"
        );
        place.write("set/items/other.xml", &item("Water", MAPPED).replace("Helium", "Iron"));
        let again = place.json("qti import set --json");
        assert_eq!(again["items"], json!({"created": 0, "updated": 1, "unchanged": 2}));
        assert_eq!(again["tests"], json!({"created": 0, "updated": 0, "unchanged": 1}));

        let (code, _, stderr) = place.run("qti export out");
        assert_eq!((code, stderr.as_str()), (0, "exported 3 items, 1 tests, 1 stimuli to 'out'\n"));
        let out = files(&place.path().join("out"));
        let mut names: Vec<&str> = out.keys().map(String::as_str).collect();
        // Small and capital letters are one name to some file systems.
        names.retain(|name| !name.starts_with("items/water~"));
        assert_eq!(names.len() + 1, out.len());
        assert_eq!(
            names,
            ["items/Water.xml", "items/old.xml", "stimuli/text.xml", "tests/exam.xml"]
        );
        let mut texts: Vec<&String> = out.values().collect();
        let set = files(&place.path().join("set"));
        let mut expected: Vec<&String> =
            set.values().filter(|text| *text != "<manifest/>").collect();
        texts.sort();
        expected.sort();
        assert!(texts == expected, "each document comes back as it was");

        let back = place.json("qti import out --json");
        assert_eq!(back["items"], json!({"created": 0, "updated": 0, "unchanged": 3}));
        let (code, stderr) = place.fails("qti export out");
        assert!(code == 5 && stderr.contains("the folder 'out' is not empty"), "{stderr}");
    }
}

#[test]
fn an_error_refuses_all_documents_unless_keep_going_is_set() {
    for place in migrated_places() {
        let broken = item("broken", MAPPED).replace("</qti-item-body>", "");
        let lost = test(&[("a", "items/nowhere.xml")]);
        write_all(&place, &[("set/a.xml", item("a", MAPPED)), ("set/b.xml", broken)]);
        let (code, stdout, stderr) = place.run("qti import set");
        assert!(code == 1 && stdout.starts_with("set/b.xml:"), "{stdout}");
        assert!(stderr.starts_with("error: nothing was imported: 1 error, 0 warnings"), "{stderr}");
        assert_eq!(place.json("qti export none --json")["documents"]["items"], 0);

        let (code, stdout, stderr) = place.run("qti import set --keep-going --json");
        assert_eq!(code, 1, "{stderr}");
        assert!(stderr.ends_with("error: 1 file not imported\n"), "{stderr}");
        let report: serde_json::Value =
            serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
        assert_eq!((&report["refused"], &report["items"]["created"]), (&json!(1), &json!(1)));

        // A test may refer to what the store has, by its name.
        write_all(&place, &[("lost.xml", lost.replace("identifier=\"a\"", "identifier=\"z\""))]);
        let (code, stdout, _) = place.run("qti import lost.xml");
        assert!(code == 1 && stdout.contains("there is no item"), "{stdout}");
        write_all(&place, &[("found.xml", lost)]);
        place.ok("qti import found.xml");
    }
}

#[test]
fn items_are_found_by_the_files_that_a_test_names() {
    for place in migrated_places() {
        // As authoring tools write packages: a folder an item, one file name for all.
        let named = test(&[("first", "../items/i1/qti.xml"), ("second", "../items/i2/qti.xml")]);
        write_all(
            &place,
            &[
                ("set/tests/exam.xml", named),
                ("set/items/i1/qti.xml", item("water", MAPPED)),
                ("set/items/i2/qti.xml", item("fire", MAPPED)),
                ("set/other/qti.xml", item("qti", MAPPED)),
            ],
        );
        let report = place.json("qti import set --json");
        assert_eq!(
            (&report["items"]["created"], &report["tests"]["created"]),
            (&json!(3), &json!(1))
        );
        place.ok("qti export out");
        let out = files(&place.path().join("out"));
        let exam = out.iter().find(|(name, _)| name.starts_with("tests/")).unwrap().1;
        assert!(exam.contains("href=\"water\"") && exam.contains("href=\"fire\""), "{exam}");
        // What was exported is found again, and the same files change nothing.
        assert_eq!(place.json("qti import out --json")["tests"]["unchanged"], 1);
        assert_eq!(place.json("qti import set --json")["tests"]["unchanged"], 1);
    }
}

#[test]
fn no_identifier_leads_out_of_the_folder() {
    let place = Place::new();
    place.ok("client create App --id app");
    let file = place.path().join("lyceum-data/lyceum.db");
    let db = Db::open(&StoreLocation::Sqlite(file), &lyceum_api::migrations()).unwrap();
    let long = "x".repeat(255);
    let identifiers =
        ["../../evil", "/tmp/evil", "..", ".", ".hidden", "a/b\\c", "\u{1}\u{e9}", "a b", &long];
    db.write_blocking(|tx| {
        for identifier in identifiers {
            let draft =
                CheckedDocument::of(ContentKind::Item, item("water", MAPPED), &Object::new())?;
            let draft = CheckedDocument { identifier: identifier.to_owned(), ..draft };
            repository::create(tx, Timestamp::from_milliseconds(0), &draft)?;
        }
        Ok(())
    })
    .unwrap();
    drop(db);
    place.ok("qti export out");
    let out = files(&place.path().join("out"));
    assert_eq!(out.len(), identifiers.len());
    for name in out.keys() {
        let file = name.strip_prefix("items/").unwrap();
        assert!(!file.starts_with('.') && !file.contains('/') && file.len() < 255, "{name}");
        assert!(file.is_ascii(), "{name}");
    }
    assert!(out.contains_key("items/%2E.%2F..%2Fevil.xml"), "{:?}", out.keys());
    let here = fs::read_dir(place.path()).unwrap().count();
    assert_eq!(here, 2, "the data and the export");
}

const PIXELS: &str = "not really pixels";

/// An item with pictures at these addresses.
fn with_pictures(identifier: &str, sources: &[&str]) -> String {
    let picture = |source: &&str| format!("<img src=\"{source}\" alt=\"\"/>");
    let pictures = sources.iter().map(picture).collect::<Vec<_>>().concat();
    item(identifier, MAPPED)
        .replace("<qti-item-body>", &format!("<qti-item-body><p>{pictures}</p>"))
}

#[test]
fn files_beside_items_are_imported_exported_and_backed_up() {
    for place in migrated_places() {
        write_all(
            &place,
            &[
                ("set/items/plain.xml", item("plain", MAPPED)),
                (
                    "set/items/seen.xml",
                    with_pictures(
                        "seen",
                        &[
                            "../images/a%20b.png",
                            "own.svg",
                            "lost.png",
                            "../../secret.png",
                            "x.exe",
                        ],
                    ),
                ),
                ("set/images/a b.png", PIXELS.to_owned()),
                ("set/items/own.svg", "<svg/>".to_owned()),
                ("set/items/x.exe", "run".to_owned()),
                ("secret.png", "nobody asked for it".to_owned()),
            ],
        );
        let (code, _, stderr) = place.run("qti import set");
        assert_eq!(code, 0, "{stderr}");
        assert!(stderr.contains("imported 2 documents with 2 files"), "{stderr}");
        for (file, reason) in [
            ("lost.png", "it does not exist"),
            ("secret.png", "it is outside of the imported folder"),
            ("x.exe", "must be one of avif"),
        ] {
            let warning = format!("'set/items/seen.xml': its file '{file}' is not stored: ");
            assert!(stderr.contains(&warning) && stderr.contains(reason), "{stderr}");
        }
        assert_eq!(place.json("qti import set --json")["files"], 2, "again");

        place.ok("qti export out");
        let out = files(&place.path().join("out"));
        let names: Vec<&str> = out.keys().map(String::as_str).collect();
        let expected = [
            "items/plain.xml",
            "items/seen/document/document/own.svg",
            "items/seen/document/document/seen.xml",
            "items/seen/document/images/a b.png",
        ];
        assert_eq!(names, expected);
        assert_eq!(out[expected[3]], PIXELS);

        // What was exported says the same when it is imported into another place.
        place.ok("admin backup copy.backup");
        place.ok("admin check");
        let blobs = place.path().join("lyceum-data/hosting/blobs");
        for blob in files(&blobs).keys() {
            fs::remove_file(blobs.join(blob)).unwrap();
        }
        let (code, found, stderr) = place.run("admin check");
        assert!(code == 1 && [&found, &stderr].iter().any(|text| text.contains("it is missing")));
        place.ok("admin restore copy.backup --force");
        place.ok("admin check");
        place.ok("qti export restored");
        assert_eq!(files(&place.path().join("restored")), out);
        let back = place.json("qti import restored --json");
        assert_eq!(back["items"], json!({"created": 0, "updated": 0, "unchanged": 2}));
        assert_eq!(back["files"], 2);
    }
}

#[test]
fn what_an_import_cannot_store_of_a_package_is_named() {
    for place in migrated_places() {
        let manifest = r#"<manifest xmlns="http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1"><resources>
            <resource identifier="a" type="imsqti_item_xmlv3p0" href="items/a.xml">
                <file href="items/a.xml"/><file href="images/mapa%20r%C3%ADo.png"/></resource>
            <resource identifier="b" type="imsqti_item_xmlv3p0" href="items/gone.xml"/>
            <resource identifier="c" type="imsqti_xmlv1p2" href="old/quiz.xml"/>
            <resource identifier="d" type="webcontent" href="page.html"/>
        </resources></manifest>"#;
        write_all(
            &place,
            &[
                ("set/imsmanifest.xml", manifest.to_owned()),
                ("set/items/a.xml", with_pictures("a", &["../images/mapa%20r%C3%ADo.png"])),
                ("set/images/mapa río.png", PIXELS.to_owned()),
                (
                    "set/old/quiz.xml",
                    "<questestinterop><item ident=\"i\"/></questestinterop>".to_owned(),
                ),
                ("set/page.html", "<p/>".to_owned()),
                ("set/more.zip", "PK".to_owned()),
            ],
        );
        let reasons = [
            "'set/more.zip': it is a zip; unpack it and give its folder",
            "'set/old/quiz.xml': it is a document of QTI 1.2; convert it to QTI 3",
            "'set/items/gone.xml': the manifest names it, but it does not exist",
            "'set/page.html': its type is 'webcontent'; it is neither a QTI document nor a file that can be stored with one",
        ];
        let named = reasons.map(|reason| format!("  not imported: {reason}\n")).concat();
        let (code, _, stderr) = place.run("qti import set");
        let expected =
            format!("imported 1 document with 1 file\nerror: 4 files not imported\n{named}");
        assert_eq!((code, stderr), (1, expected));
        let (_, stdout, _) = place.run("qti import set --json");
        let answer: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(answer["not_imported"][2]["file"], "set/items/gone.xml", "{answer}");

        let (code, _, stderr) = place.run("qti import set/more.zip");
        assert!(
            code == 1 && stderr.contains("not imported: 'set/more.zip': it is a zip"),
            "{stderr}"
        );
        let (code, _, stderr) = place.run("qti validate set");
        assert!(code == 1 && stderr.contains("not checked: 'set/items/gone.xml'"), "{stderr}");
        write_all(&place, &[("set/broken.xml", "<qti-assessment-item>".to_owned())]);
        let (code, _, stderr) = place.run("qti import set");
        assert!(code == 1 && stderr.contains("not imported: 'set/items/gone.xml'"), "{stderr}");
    }
}

#[test]
fn an_import_reads_no_files_outside_of_the_named_folders() {
    let place = Place::new();
    let sources = ["../secret.png", "../../secret.png", "link.png", "own.png", "pipe.png"];
    write_all(
        &place,
        &[
            ("a/secret.png", "outside".to_owned()),
            ("a/b/river.xml", with_pictures("river", &sources)),
            ("a/b/c/lake.xml", with_pictures("lake", &["../../secret.png", "../own.png"])),
            ("a/b/own.png", PIXELS.to_owned()),
        ],
    );
    let inside = place.path().join("a/b");
    std::os::unix::fs::symlink("../secret.png", inside.join("link.png")).unwrap();
    let pipe = Command::new("mkfifo").arg(inside.join("pipe.png")).status();
    assert!(pipe.unwrap().success());
    std::os::unix::fs::symlink(".", place.path().join("a/b/same")).unwrap();
    let import = |folder: &str, argument: &str| {
        let mut command = place.command(&format!("qti import {argument} --json"));
        let data = place.path().join("lyceum-data");
        let done = command
            .args(["--data".as_ref(), data.as_os_str()])
            .current_dir(place.path().join(folder))
            .output()
            .unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.success(), "{folder} {argument}: {stderr}");
        let answer: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        (answer["files"].as_u64().unwrap(), stderr)
    };
    for (folder, argument, files) in [
        ("a/b", ".", 2),
        ("a/b", "river.xml", 1),
        ("a/b", "./river.xml", 1),
        ("a/b", "same/river.xml", 1),
        ("a/b/c", "..", 2),
        ("a/b/c", "lake.xml", 0),
        (".", "a/b", 2),
    ] {
        let (stored, stderr) = import(folder, argument);
        assert_eq!(stored, files, "{folder} {argument}: {stderr}");
        assert!(stderr.contains("secret.png' is not stored"), "{folder} {argument}: {stderr}");
    }
    let blobs = files(&place.path().join("lyceum-data/hosting/blobs"));
    let is_stored = |text: &str| {
        let digest = Digest::of(text.as_bytes()).to_string();
        blobs.keys().any(|blob| blob.ends_with(&digest))
    };
    assert!(is_stored(PIXELS) && !is_stored("outside"));
}

#[test]
fn files_that_a_document_cannot_have_do_not_stop_an_import() {
    for place in migrated_places() {
        let names: Vec<String> = (0..101).map(|number| format!("p{number}.png")).collect();
        let sources: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut all = vec![
            ("set/many.xml", with_pictures("many", &sources)),
            ("set/other.xml", with_pictures("other", &["a.png", "../a.png"])),
            ("set/a.png", PIXELS.to_owned()),
            ("a.png", "another picture".to_owned()),
        ];
        let paths: Vec<String> = names.iter().map(|name| format!("set/{name}")).collect();
        all.extend(paths.iter().map(|path| (path.as_str(), PIXELS.to_owned())));
        write_all(&place, &all);
        let (code, _, stderr) = place.run("qti import set");
        assert_eq!(code, 0, "{stderr}");
        let limit = "its file 'p100.png' is not stored: the limit for files of a document is 100";
        assert!(stderr.contains(limit), "{stderr}");
        assert!(stderr.contains("imported 2 documents with 101 files"), "{stderr}");
        assert!(stderr.contains("its file 'a.png' is not stored: another reference"), "{stderr}");
    }
}

#[test]
fn one_document_does_not_stop_an_export() {
    let place = Place::new();
    let far = format!("{}far.png", "../".repeat(500));
    write_all(
        &place,
        &[
            ("set/1.xml", with_pictures("seen", &["own.png"])),
            ("set/2.xml", with_pictures("seen.xml", &["own.png"])),
            ("set/3.xml", with_pictures("far", &[&far])),
            ("set/own.png", PIXELS.to_owned()),
            ("lost/lost.xml", with_pictures("lost", &["lost.png"])),
            ("lost/lost.png", "lost pixels".to_owned()),
        ],
    );
    place.ok("qti import set lost");
    let file = place.path().join("lyceum-data/lyceum.db");
    let db = Db::open(&StoreLocation::Sqlite(file), &lyceum_api::migrations()).unwrap();
    db.write_blocking(|tx| {
        let file = stored::find(tx, ContentKind::Item, "seen", "own.png")?;
        let far = NewFile { path: "far.png".into(), sha256: file.sha256, size: file.size };
        stored::put(tx, Timestamp::from_milliseconds(0), ContentKind::Item, "far", &far)?;
        let lost = stored::find(tx, ContentKind::Item, "lost", "lost.png")?;
        let blobs = place.path().join("lyceum-data/hosting/blobs");
        let lost = files(&blobs).into_keys().find(|blob| blob.ends_with(&lost.sha256)).unwrap();
        fs::remove_file(blobs.join(lost)).unwrap();
        Ok(())
    })
    .unwrap();
    drop(db);
    let (code, _, stderr) = place.run("qti export out");
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("lost.png' is not exported: its bytes are missing"), "{stderr}");
    let out = files(&place.path().join("out"));
    let names: Vec<&str> = out.keys().map(String::as_str).collect();
    let second = names.iter().find(|name| name.starts_with("items/seen.xml~")).unwrap();
    assert!(second.ends_with("/own.png"), "{names:?}");
    for name in
        ["items/far/far.png", "items/far/far.xml", "items/seen/seen.xml", "items/lost/lost.xml"]
    {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert_eq!(names.len(), 8 - 1, "{names:?}");
}
