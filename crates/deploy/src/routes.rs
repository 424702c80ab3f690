//! The routes of a backend: one file per path.
//!
//! Routes are those of the folder, even if the config does not mention them. A project that loses its last route
//! keeps its deployed backend, because a mistyped folder must not remove an API.

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};

use lyceum_core::{Problem, Result, message};

use crate::unreadable;

/// A file with route handlers, and the path that it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The file.
    pub file: PathBuf,
    /// Its path in Hono's syntax: `/api/users/:id`, `/api/files/:path{.+}`.
    pub path: String,
}

const EXTENSIONS: [&str; 4] = ["ts", "js", "tsx", "mjs"];

/// The routes below a folder, in the order in which they are tried: static paths, then paths with parameters, then
/// paths that match a whole rest, and longer paths before the paths that they begin with. Files that begin with `_` or `.`, tests and type declarations are skipped. A
/// missing folder has no routes.
///
/// Errors: `Invalid` for two files with the same path, and for names that are not valid in a path.
pub fn routes_in(folder: &Path) -> Result<Vec<Route>> {
    let mut routes = Vec::new();
    if folder.is_dir() {
        collect(folder, "/api", &mut routes)?;
    }
    routes.sort_by(|one, other| order(&one.path, &other.path));
    let twins = routes.windows(2).find(|pair| shape(&pair[0].path) == shape(&pair[1].path));
    if let Some([one, other]) = twins {
        let message = message!(
            "'{file}' and '{other}' serve the same path; remove one",
            file = one.file.display(),
            other = other.file.display()
        );
        return Err(Problem::invalid("routes", message));
    }
    Ok(routes)
}

fn collect(folder: &Path, base: &str, routes: &mut Vec<Route>) -> Result<()> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    for entry in entries.map_err(|error| unreadable(folder, &error))? {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if name.starts_with(['_', '.']) || name == "node_modules" {
            continue;
        }
        if path.is_dir() {
            collect(&path, &format!("{base}/{}", segment(&name, &path)?), routes)?;
            continue;
        }
        let Some((stem, extension)) = name.rsplit_once('.') else { continue };
        let is_other = [".d", ".test", ".spec"].iter().any(|suffix| stem.ends_with(suffix));
        if !EXTENSIONS.contains(&extension) || is_other {
            continue;
        }
        let route = match stem {
            "index" => base.to_owned(),
            _ => format!("{base}/{}", segment(stem, &path)?),
        };
        routes.push(Route { file: path, path: route });
    }
    Ok(())
}

/// A segment of a path: `[id]` matches one segment, `[...path]` the whole rest.
fn segment(name: &str, file: &Path) -> Result<String> {
    let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let (inner, is_rest) = match inner {
        Some(inner) => match inner.strip_prefix("...") {
            Some(inner) => (Some(inner), true),
            None => (Some(inner), false),
        },
        None => (None, false),
    };
    let is_word = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let is_plain = |text: &str| {
        text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~'))
    };
    match inner {
        Some(inner) if is_word(inner) && is_rest => Ok(format!(":{inner}{{.+}}")),
        Some(inner) if is_word(inner) => Ok(format!(":{inner}")),
        None if is_plain(name) => Ok(name.to_owned()),
        _ => {
            let message = message!(
                "'{file}' is not a valid name of a route; a name has letters, digits, '-' and '_', or is '[name]' or \
                 '[...name]'",
                file = file.display()
            );
            Err(Problem::invalid("routes", message))
        }
    }
}

/// 0: static, 1: parameter, 2: whole rest.
fn rank(segment: &str) -> u8 {
    match (segment.starts_with(':'), segment.ends_with('}')) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => 2,
    }
}

fn order(one: &str, other: &str) -> Ordering {
    // A default export also serves the paths below its own, so a path comes after those that begin with it.
    let end = (3, String::new());
    let key = |path: &str| -> Vec<(u8, String)> {
        let segments = path.split('/').map(|segment| (rank(segment), segment.to_owned()));
        segments.chain([end.clone()]).collect()
    };
    key(one).cmp(&key(other))
}

/// The path without the names of its parameters.
fn shape(path: &str) -> String {
    let nameless = path.split('/').map(|segment| match rank(segment) {
        0 => segment,
        1 => ":",
        _ => ":*",
    });
    nameless.collect::<Vec<_>>().join("/")
}
