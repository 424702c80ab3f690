//! Where a schema may be written, and what is said where there is none: with the real drizzle-kit.

use std::fs;
use std::os::unix::fs::symlink;

use crate::served::{binary, root};
use crate::transcript::Place;

const USERS: &str = "import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';\n\
                     export const users = sqliteTable('users', { id: integer().primaryKey(), name: text() });\n";
const POSTS: &str = "import { integer, sqliteTable } from 'drizzle-orm/sqlite-core';\n\
                     import { users } from './users';\n\
                     export const posts = sqliteTable('posts', { id: integer().primaryKey(), by: integer().references(() => users.id) });\n";
const INDEX: &str = "export * from './users';\nexport * from './posts';\n";
const CONFIG: &str = r#"{ "name": "Rivers", "integrations": { "database": true } }"#;

fn place(files: &[(&str, &str)]) -> Place {
    let place = Place::new().running(binary());
    symlink(root().join("tests/deploy/node_modules"), place.path().join("node_modules")).unwrap();
    if !files.iter().any(|(name, _)| name.starts_with("lyceum.config")) {
        place.write("lyceum.config.json", CONFIG);
    }
    for (name, text) in files {
        fs::create_dir_all(place.path().join(name).parent().unwrap()).unwrap();
        place.write(name, text);
    }
    place
}

/// Whether both tables are there, once each.
fn has_all(ddl: &str) -> bool {
    ["users", "posts"]
        .iter()
        .all(|name| ddl.matches(&format!("CREATE TABLE `{name}`")).count() == 1)
}

#[test]
#[ignore = "rest"]
#[expect(clippy::too_many_lines, reason = "a table of layouts with their files")]
fn every_layout_of_drizzle_is_found() {
    let kit = |more: &str| {
        format!(
            "import 'dotenv/config';\nimport {{ defineConfig }} from 'drizzle-kit';\n\
             export default defineConfig({{ dialect: 'sqlite', {more} }});\n"
        )
    };
    let (one, globs) = (
        kit("schema: './src/tables/index.ts'"),
        kit("schema: ['./src/tables/users.ts', './src/tables/p*.ts']"),
    );
    let folder = kit("schema: './src/tables', dbCredentials: { url: process.env.DATABASE_URL! }")
        .replace("import 'dotenv/config';\n", "");
    let literal = r#"{ "dialect": "sqlite", "schema": "./src/tables" }"#;
    let named = r#"{ "name": "Rivers", "integrations": { "database": { "directory": "data" } } }"#;
    for (what, files) in [
        (
            "a module",
            vec![
                ("db/schema.ts", "export * from './users';\nexport * from './posts';"),
                ("db/users.ts", USERS),
                ("db/posts.ts", POSTS),
            ],
        ),
        (
            "a folder with an index",
            vec![
                ("db/schema/index.ts", INDEX),
                ("db/schema/users.ts", USERS),
                ("db/schema/posts.ts", POSTS),
            ],
        ),
        (
            "a folder without one",
            vec![
                ("db/schema/users.ts", USERS),
                ("db/schema/posts.ts", POSTS),
                ("db/schema/users.test.ts", "throw new Error('a test');"),
            ],
        ),
        (
            "a folder of folders",
            vec![
                ("db/schema/users.ts", USERS),
                ("db/schema/blog/posts.ts", &POSTS.replace("./users", "../users")),
            ],
        ),
        (
            "another usual folder",
            vec![
                ("src/db/schema/index.ts", INDEX),
                ("src/db/schema/users.ts", USERS),
                ("src/db/schema/posts.ts", POSTS),
            ],
        ),
        (
            "the folder of routes",
            vec![
                ("server/db/schema/index.mts", INDEX),
                ("server/db/schema/users.ts", USERS),
                ("server/db/schema/posts.ts", POSTS),
            ],
        ),
        (
            "a named folder",
            vec![
                ("lyceum.config.json", named),
                ("data/schema/index.ts", INDEX),
                ("data/schema/users.ts", USERS),
                ("data/schema/posts.ts", POSTS),
            ],
        ),
        (
            "a config with a module",
            vec![
                ("drizzle.config.ts", &one.replace("import 'dotenv/config';\n", "")),
                ("src/tables/index.ts", INDEX),
                ("src/tables/users.ts", USERS),
                ("src/tables/posts.ts", POSTS),
            ],
        ),
        (
            "a config with patterns",
            vec![
                ("drizzle.config.mjs", &globs.replace("import 'dotenv/config';\n", "")),
                ("src/tables/users.ts", USERS),
                ("src/tables/posts.ts", POSTS),
            ],
        ),
        (
            "a config with a folder",
            vec![
                ("drizzle.config.ts", &folder),
                ("src/tables/users.ts", USERS),
                ("src/tables/posts.ts", POSTS),
            ],
        ),
        (
            "a config in JSON",
            vec![
                ("drizzle.config.json", literal),
                ("src/tables/users.ts", USERS),
                ("src/tables/posts.ts", POSTS),
            ],
        ),
    ] {
        let place = place(&files);
        let ddl = place.ok("db diff");
        assert!(has_all(&ddl), "{what}: {ddl}");
        // From memory, and from the file if it changed.
        assert!(has_all(&place.ok("db diff")), "{what}");
        let users = files.iter().find(|(name, _)| name.ends_with("users.ts")).unwrap().0;
        place.write(users, &USERS.replace("name: text()", "name: text(), born: integer()"));
        assert!(place.ok("db diff").contains("`born` integer"), "{what}");
    }
}

#[test]
#[ignore = "rest"]
fn migrations_are_where_drizzle_s_config_puts_them() {
    let config =
        "export default { dialect: 'sqlite', schema: './src/users.ts', out: './drizzle' };";
    let journal = r#"{"version":"7","dialect":"sqlite","entries":[{"idx":0,"tag":"0000_start"}]}"#;
    let place = place(&[
        ("drizzle.config.ts", config),
        ("src/users.ts", USERS),
        ("drizzle/meta/_journal.json", journal),
        ("drizzle/0000_start.sql", "CREATE TABLE users (id integer);"),
    ]);
    assert_eq!(place.ok("db diff"), "-- 0000_start\nCREATE TABLE users (id integer);\n");
    assert_eq!(place.json("db diff --json")["pending"][0], "0000_start");
}

#[test]
#[ignore = "rest"]
fn a_database_without_a_schema_says_where_it_was_looked_for() {
    let place = place(&[("db/readme.md", "nothing yet")]);
    let (code, stderr) = place.fails("db diff");
    assert_eq!(code, 4, "{stderr}");
    for looked in [
        "db/schema.ts, db/schema/, db/*.sql",
        "src/db/schema.ts",
        "drizzle.config.ts",
        "integrations.database.directory",
    ] {
        assert!(stderr.contains(looked), "{looked}: {stderr}");
    }
}

#[test]
#[ignore = "rest"]
fn a_config_of_drizzle_that_leads_nowhere_stops_with_a_reason() {
    let sqlite = "db/schema.ts";
    for (config, wanted) in [
        (
            "export default { dialect: 'postgresql', schema: './db/schema.ts' };",
            "has the dialect 'postgresql'",
        ),
        (
            "import { defineConfig } from 'drizzle-kit';\nconst kind = ['my', 'sql'].join('');\n\
             export default defineConfig({ dialect: kind as 'mysql', schema: './db/schema.ts' });",
            "has the dialect 'mysql'",
        ),
        (
            "export default { dialect: 'sqlite', schema: './db/nowhere.ts' };",
            "No schema files found for path config ['./db/nowhere.ts']",
        ),
        (
            "export default { dialect: 'sqlite', schema: './db/empty.ts' };",
            "exports no table from the schema that drizzle.config.ts names (./db/empty.ts)",
        ),
    ] {
        let place = place(&[(sqlite, USERS), ("db/empty.ts", "export const nothing = 1;")]);
        place.ok("db push");
        place.write("drizzle.config.ts", config);
        for command in ["db diff", "db push --accept-data-loss"] {
            let (code, stderr) = place.fails(command);
            assert!(code == 1 && stderr.contains(wanted), "{command}: {stderr}");
        }
        fs::remove_file(place.path().join("drizzle.config.ts")).unwrap();
        assert_eq!(
            place.run("db diff").2,
            "the database matches the project's schema\n",
            "nothing was dropped"
        );
    }
}
