//! `lyceum create`: the files of each template, names, questions and refusals. What the projects do is tested in
//! `web/tests/templates.test.js`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use jsonschema::validator_for;
use serde_json::{Value, json};

use crate::served::root;
use crate::transcript::Place;
use crate::typing::Typing;

const TEMPLATES: [&str; 4] = ["vanilla", "react", "backend", "lessons"];

#[test]
fn each_template_is_a_project_that_commands_can_read() {
    let place = Place::new();
    let schema: Value = place.json("config schema");
    let validator = validator_for(&schema).unwrap();
    for template in TEMPLATES {
        let folder = format!("sites/{template}");
        let output =
            place.json(&format!("create {folder} --template {template} --no-install --json"));
        assert_eq!((&output["name"], &output["slug"]), (&template.into(), &template.into()));
        assert_eq!(output["installed"], false);
        let files = output["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap());
        for file in files {
            let text = fs::read_to_string(place.path().join(&folder).join(file)).unwrap();
            let unfilled =
                ["{{name}}", "{{slug}}", "{{version}}"].iter().find(|it| text.contains(**it));
            assert!(unfilled.is_none(), "{template}/{file} contains {unfilled:?}");
        }
        let manifest = read(&place, &format!("{folder}/package.json"));
        assert_eq!(manifest["name"], template);
        assert_eq!(
            manifest["devDependencies"]["@lyceum/cli"],
            concat!("^", env!("CARGO_PKG_VERSION"))
        );
        let ignored = fs::read_to_string(place.path().join(&folder).join(".gitignore")).unwrap();
        assert!(ignored.lines().any(|line| line == ".lyceum"), "{ignored}");
        if template == "lessons" {
            let config = read(&place, &format!("{folder}/lyceum.config.json"));
            assert!(validator.is_valid(&config), "{config}");
            place.ok(&format!("qti validate {folder}/content"));
        }
    }
    // The config of the backend asks for a database, so there is one to create. Its packages evaluate the config.
    let packages = root().join("tests/deploy/node_modules");
    symlink(packages, place.path().join("sites/backend/node_modules")).unwrap();
    place.ok("db push --config sites/backend");
    let tables = place.ok("db diff --config sites/backend");
    assert!(!tables.contains("CREATE TABLE"), "{tables}");
}

#[test]
fn a_person_is_asked_for_the_name_and_the_template() {
    let place = Place::new();
    let mut typing = Typing::start(&place, "create --no-install");
    typing.answer("Name of the project [my-app]: ", "Long Rivers");
    typing.answer("Template, one of vanilla, react, backend, lessons [vanilla]: ", "none");
    let (code, screen) = typing.answer("Template, one of", "react").end();
    assert_eq!(code, 0, "{screen}");
    assert!(
        screen.contains("created 'Long Rivers' in long-rivers from the template react"),
        "{screen}"
    );
    assert!(screen.contains("Next: cd long-rivers && npm install && npm run dev"), "{screen}");
    assert!(place.path().join("long-rivers/src/app.tsx").is_file());
    let page = fs::read_to_string(place.path().join("long-rivers/index.html")).unwrap();
    assert!(page.contains("<title>Long Rivers</title>"), "{page}");
}

#[test]
fn a_folder_with_files_is_refused_and_left_unchanged() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("taken/.git")).unwrap();
    place.write("taken/notes.txt", "mine");
    let (code, stderr) = place.fails("create taken --no-install");
    assert_eq!(code, 5, "{stderr}");
    assert!(stderr.contains("the folder 'taken' is not empty: it contains notes.txt"), "{stderr}");
    assert!(stderr.contains("`lyceum init`"), "{stderr}");
    assert_eq!(fs::read_dir(place.path().join("taken")).unwrap().count(), 2);
    // A new repository contains nothing yet.
    fs::remove_file(place.path().join("taken/notes.txt")).unwrap();
    place.ok("create taken --no-install");
    let (code, stderr) = place.fails("create taken/package.json --no-install");
    assert!(code == 5 && stderr.contains("cannot be the project's folder"), "{stderr}");
}

#[test]
fn names_that_cannot_be_a_project_are_refused() {
    let place = Place::new();
    for (line, message) in [
        ("create --no-install", "the project has no name"),
        ("create a{b --no-install", "the name must not contain '{'"),
        ("create app --name 数学 --no-install", "no address can be derived from the name '数学'"),
        ("create app --template angular --no-install", "invalid value 'angular'"),
    ] {
        let (code, stderr) = place.fails(line);
        assert!(code == 2 && stderr.contains(message), "{line}: {code} {stderr}");
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "nothing was created");
}

#[test]
fn packages_are_installed_in_the_new_folder() {
    let mut place = Place::new();
    fs::create_dir(place.path().join("bin")).unwrap();
    let npm = "#!/bin/sh\necho \"$@\" > called\necho added 9 packages\n";
    place.write("bin/npm", npm);
    fs::set_permissions(place.path().join("bin/npm"), Permissions::from_mode(0o755)).unwrap();
    place.set("PATH", place.path().join("bin").to_str().unwrap());
    let output = place.json("create app --json");
    assert_eq!(
        (&output["installed"], &output["next"]),
        (&true.into(), &json!(["cd app", "npm run dev"]))
    );
    let called = fs::read_to_string(place.path().join("app/called")).unwrap();
    assert_eq!(called, "install --no-audit --no-fund\n");
}

#[test]
fn without_npm_the_files_are_created_and_the_remaining_steps_printed() {
    let place = Place::new().with("PATH", "");
    let (code, stderr) = place.fails("create app");
    assert!(code == 1 && stderr.contains("npm could not be started"), "{stderr}");
    assert!(stderr.contains("run `npm install` in 'app'"), "{stderr}");
    assert!(place.path().join("app/package.json").is_file());
}

fn read(place: &Place, file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(place.path().join(file)).unwrap()).unwrap()
}
