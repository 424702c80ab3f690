//! Files become routes, and the more exact one is tried first.

use lyceum_core::ProblemKind;
use lyceum_deploy::routes_in;
use tempfile::tempdir;

use crate::{refused, write};

fn paths(files: &[&str]) -> lyceum_core::Result<Vec<String>> {
    let folder = tempdir().unwrap();
    for file in files {
        write(folder.path(), file, "export default {}");
    }
    Ok(routes_in(folder.path())?.into_iter().map(|route| route.path).collect())
}

#[test]
fn static_paths_come_before_parameters_and_longer_paths_before_their_beginnings() {
    let files = [
        "[...rest].ts",
        "users/[id].ts",
        "users/index.ts",
        "users/me.js",
        "users/[id]/badges.tsx",
        "index.mjs",
        "a-b.c~d.ts",
    ];
    assert_eq!(
        paths(&files).unwrap(),
        [
            "/api/a-b.c~d",
            "/api/users/me",
            "/api/users/:id/badges",
            "/api/users/:id",
            "/api/users",
            "/api/:rest{.+}",
            "/api",
        ]
    );
}

#[test]
fn files_that_serve_nothing_are_skipped() {
    let files = [
        "_helpers.ts",
        "_lib/db.ts",
        ".hidden.ts",
        ".git/config.ts",
        "node_modules/hono/index.js",
        "types.d.ts",
        "users.test.ts",
        "users.spec.js",
        "readme.md",
        "Makefile",
        "users.ts",
    ];
    assert_eq!(paths(&files).unwrap(), ["/api/users"]);
    assert_eq!(routes_in("/no/such/folder".as_ref()).unwrap(), []);
}

#[test]
fn two_files_for_one_path_are_refused() {
    for twins in [
        ["users.ts", "users/index.ts"],
        ["users.ts", "users.js"],
        ["users/[id].ts", "users/[name].ts"],
        ["[...path].ts", "[...rest].js"],
    ] {
        let (kind, message) = refused(paths(&twins));
        assert_eq!(kind, ProblemKind::Invalid, "{twins:?}");
        let has_both = twins.iter().all(|file| message.contains(file));
        assert!(has_both && message.contains("serve the same path; remove one"), "{message}");
    }
    paths(&["users/[id].ts", "users/[...id].ts"]).unwrap();
}

#[test]
fn names_that_no_path_can_have_are_refused() {
    for name in ["a b.ts", "[].ts", "[a-b].ts", "[...].ts", "[...a.b].ts", "ä.ts", "a/[b c]/d.ts"]
    {
        let (kind, message) = refused(paths(&[name]));
        assert_eq!(kind, ProblemKind::Invalid, "{name}");
        assert!(message.contains("is not a valid name of a route"), "{message}");
    }
}
