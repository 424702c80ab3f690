//! The changes that are noticed, and those that are not.

use std::fs;
use std::time::{Duration, Instant};

use lyceum_dev::DevMessage;
use serde_json::{Value, json};

use crate::project::Project;

/// The time after which a change that is noticed would have been noticed.
const QUIET: Duration = Duration::from_millis(300);

fn route(says: u8) -> String {
    format!("export const GET = (c) => c.json({says});\n")
}

fn says(number: u8) -> (u16, Value) {
    (200, number.into())
}

/// How often the backend was served again until no message came for a while.
fn reloads(project: &Project) -> usize {
    let messages = project.messages();
    let is_reload =
        |message: &DevMessage| matches!(message, DevMessage::Serves { again: true, .. });
    std::iter::from_fn(|| messages.recv_timeout(QUIET).ok()).filter(is_reload).count()
}

#[test]
fn a_file_that_an_editor_replaces_is_noticed() {
    let project = Project::of(&[("server/api/turn.ts", &route(0))]);
    project.until("/api/turn", &says(0));
    for turn in 1..=3 {
        project.write("server/api/.turn.ts.new", &route(turn));
        project.rename("server/api/.turn.ts.new", "server/api/turn.ts");
        project.until("/api/turn", &says(turn));
    }
}

#[test]
fn folders_that_are_made_or_renamed_later_are_watched() {
    let project = Project::of(&[]);
    assert_eq!(project.get("/api/far/off/a").0, 404);
    project.write("server/api/far/off/a.ts", &route(1));
    project.until("/api/far/off/a", &says(1));
    project.write("server/api/far/off/a.ts", &route(2));
    project.until("/api/far/off/a", &says(2));

    project.rename("server/api/far", "server/api/near");
    project.until("/api/near/off/a", &says(2));
    project.write("server/api/near/off/a.ts", &route(3));
    project.until("/api/near/off/a", &says(3));

    // The system forgets a folder that is renamed, also if it gets its name back.
    project.rename("server/api/near", "server/api/far");
    project.rename("server/api/far", "server/api/near");
    assert!(reloads(&project) > 0);
    project.write("server/api/near/off/a.ts", &route(4));
    project.until("/api/near/off/a", &says(4));

    project.rename("server", "away");
    let message = "there is no route /api/near/off/a; GET /api lists all";
    let gone = json!({ "error": { "code": "NOT_FOUND", "message": message, "details": [] } });
    project.until("/api/near/off/a", &(404, gone));
    project.write("server/api/near/off/a.ts", &route(5));
    project.until("/api/near/off/a", &says(5));
}

#[test]
fn other_files_and_folders_are_not_watched() {
    let project = Project::of(&[
        ("server/api/turn.ts", &route(0)),
        ("server/node_modules/own/index.js", ""),
        (".git/HEAD", "ref: refs/heads/main\n"),
        ("dist/index.html", ""),
    ]);
    project.until("/api/turn", &says(0));
    for folder in ["server", "server/api"] {
        assert!(is_watched(&project, folder), "{folder}");
    }
    for folder in [".git", ".lyceum", "dist", "server/node_modules", "node_modules/hono"] {
        assert!(!is_watched(&project, folder), "{folder}");
    }
    assert_eq!(reloads(&project), 0);
    for file in [
        "dist/index.html",
        ".git/HEAD",
        "server/node_modules/own/index.js",
        "server/.turn.ts.swp",
        "notes.txt",
        ".lyceum/backend/x",
    ] {
        project.write(file, "changed");
    }
    assert_eq!(reloads(&project), 0);
    project.write("server/api/turn.ts", &route(1));
    project.until("/api/turn", &says(1));
    assert_eq!(reloads(&project), 1);
}

#[test]
fn many_saves_at_once_are_served_together() {
    let project = Project::of(&[("server/api/turn.ts", &route(0))]);
    project.until("/api/turn", &says(0));
    let start = Instant::now();
    for turn in 1..=30 {
        project.write(&format!("server/api/more/{turn}.ts"), &route(turn));
    }
    let took = start.elapsed();
    project.until("/api/more/30", &says(30));
    project.until("/api/more/1", &says(1));
    let count = reloads(&project);
    // A busy machine may pause between two saves for longer than an editor does.
    assert!(count <= 3 || took > Duration::from_millis(100), "{count} after {took:?}");
}

/// Whether this process watches the folder, as Linux tells.
#[cfg(target_os = "linux")]
fn is_watched(project: &Project, folder: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    let data = fs::metadata(project.path().join(folder)).unwrap();
    let watch = format!(" ino:{:x} ", data.ino());
    let queues = fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    let mut texts = queues.filter_map(|queue| fs::read_to_string(queue.path()).ok());
    texts.any(|text| text.lines().any(|line| line.starts_with("inotify") && line.contains(&watch)))
}
