//! `lyceum init`: what it adds to a project, and that it adds nothing twice.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::served::root;
use crate::transcript::Place;
use crate::typing::Typing;

const MANIFEST: &str = "{\n\t\"name\": \"@school/long-rivers\",\n\t\"scripts\": {},\n\t\"dependencies\": {\n\t\t\"zod\": \"^4.0.0\"\n\t},\n\t\"devDependencies\": {\n\t\t\"vite\": \"^8.0.0\"\n\t}\n}\n";

fn project(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    for (name, text) in files {
        place.write(name, text);
    }
    place
}

fn read(place: &Place, file: &str) -> String {
    fs::read_to_string(place.path().join(file)).unwrap()
}

#[test]
fn a_vite_project_gets_packages_config_plugin_and_ignored_files_once() {
    let vite =
        "import react from '@vitejs/plugin-react';\n\nexport default { plugins: [react()] };\n";
    let place = project(&[
        ("package.json", MANIFEST),
        ("tsconfig.json", "{}"),
        ("vite.config.ts", vite),
        (".gitignore", "node_modules\n/.env"),
    ]);
    let shown = place.ok("init --dry-run");
    assert_eq!(
        shown,
        "package.json: add @lyceum/sdk to dependencies\n\
         package.json: add @lyceum/cli to devDependencies\n\
         package.json: add @lyceum/vite to devDependencies\n\
         lyceum.config.ts: create it with the name \"long-rivers\"\n\
         vite.config.ts: import @lyceum/vite and add the plugin lyceum()\n\
         .gitignore: ignore .lyceum\n"
    );
    assert_eq!(read(&place, "package.json"), MANIFEST);
    let (code, stderr) = place.fails("init");
    assert!(code == 2 && stderr.contains("use --yes to make the changes"), "{stderr}");
    assert_eq!(read(&place, "package.json"), MANIFEST);

    let output = place.json("init --yes --json");
    assert_eq!((&output["applied"], &output["byHand"]), (&json!(true), &json!([])));
    assert_eq!(output["files"].as_array().unwrap().len(), 4);
    let version = concat!("^", env!("CARGO_PKG_VERSION"));
    let manifest = read(&place, "package.json");
    let json: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(json["dependencies"], json!({ "@lyceum/sdk": version, "zod": "^4.0.0" }));
    assert_eq!(
        json["devDependencies"],
        json!({ "@lyceum/cli": version, "@lyceum/vite": version, "vite": "^8.0.0" })
    );
    assert!(manifest.starts_with("{\n\t\"name\"") && manifest.ends_with("}\n"), "{manifest}");
    assert_eq!(
        read(&place, "vite.config.ts"),
        format!(
            "import {{ lyceum }} from '@lyceum/vite';\n{}",
            vite.replace("[react", "[lyceum(), react")
        )
    );
    assert_eq!(read(&place, ".gitignore"), "node_modules\n/.env\n.lyceum\n");
    // Other commands find the config, when the packages are installed.
    let packages = root().join("tests/deploy/node_modules");
    symlink(packages, place.path().join("node_modules")).unwrap();
    assert!(
        place.run("deploy --env local --dry-run").2.contains("sandbox"),
        "the project has a name"
    );

    let before = ["package.json", "lyceum.config.ts", "vite.config.ts", ".gitignore"]
        .map(|file| read(&place, file));
    let again = place.json("init --yes --json");
    assert_eq!(again, json!({ "files": [], "byHand": [], "applied": false }));
    let after = ["package.json", "lyceum.config.ts", "vite.config.ts", ".gitignore"]
        .map(|file| read(&place, file));
    assert_eq!(before, after);
}

#[test]
fn each_form_of_a_vite_config_is_changed_or_left_to_a_person() {
    let object = "import { defineConfig } from \"vite\";\nexport default defineConfig({\n  base: \"/app/\",\n});\n";
    let lines = "export default {\n  plugins: [\n    other(),\n  ],\n};\n";
    for (text, wanted) in [
        (object, Some("defineConfig({\n  plugins: [lyceum()],\n  base: \"/app/\",\n});\n")),
        (lines, Some("plugins: [lyceum(),\n    other(),\n  ],\n")),
        ("export default { plugins: [] };\n", Some("plugins: [lyceum()] };\n")),
        ("export default () => ({ plugins: list });\n", None),
        ("module.exports = { plugins: [] };\n", None),
        ("export default { plugins: [a(), { plugins: [] }] };\n", None),
    ] {
        let place = project(&[("package.json", MANIFEST), ("vite.config.js", text)]);
        let output = place.json("init --yes --json");
        let after = read(&place, "vite.config.js");
        match wanted {
            Some(wanted) => {
                assert!(after.contains(wanted), "{text} became {after}");
                assert!(after.starts_with("import { lyceum } from \"@lyceum/vite\";\n"), "{after}");
            }
            None => {
                assert_eq!(after, text);
                let by_hand = output["byHand"][0].as_str().unwrap();
                assert!(by_hand.contains("the plugin `lyceum()` to vite.config.js"), "{by_hand}");
            }
        }
    }
}

#[test]
fn a_project_without_vite_gets_a_config_and_packages() {
    let place = project(&[("package.json", r#"{"name":"tool"}"#)]);
    let (code, screen) =
        Typing::start(&place, "init").answer("Make these changes? (Y/n)", "y").end();
    assert_eq!(code, 0, "{screen}");
    let config: Value = serde_json::from_str(&read(&place, "lyceum.config.json")).unwrap();
    assert_eq!(config["name"], "tool");
    assert_eq!(config["$schema"], "./node_modules/@lyceum/cli/config.schema.json");
    assert!(!read(&place, "package.json").contains("@lyceum/vite"));
    assert!(!place.path().join("vite.config.js").exists());
    assert_eq!(read(&place, ".gitignore"), ".lyceum\n.env\n");
    let place = project(&[("package.json", r#"{"name":"tool"}"#)]);
    let (code, screen) =
        Typing::start(&place, "init").answer("Make these changes? (Y/n)", "n").end();
    assert!(code == 130 && screen.contains("cancelled"), "{screen}");
    assert!(!place.path().join("lyceum.config.json").exists());
}

#[test]
fn a_folder_that_is_not_an_npm_project_is_refused() {
    let place = Place::new();
    let (code, stderr) = place.fails("init");
    assert!(code == 4 && stderr.contains("there is no './package.json'"), "{stderr}");
    assert!(stderr.contains("`lyceum create` starts a new project"), "{stderr}");
    place.write("package.json", "[");
    let (code, stderr) = place.fails("init --yes");
    assert!(code == 1 && stderr.contains("is not a JSON object"), "{stderr}");
}
