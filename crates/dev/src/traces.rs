//! Turns places in bundles into places in the project's sources, by source maps (ECMA-426).

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use lyceum_core::{Problem, Result};
use lyceum_deploy::ENTRY;
use regex::{Captures, Regex};
use serde::Serialize;
use sourcemap::SourceMap;

/// The number of versions whose traces are mapped: the version that ends, the one that serves, and the one that is tried.
const VERSIONS: usize = 3;
/// Lines of source that are shown before and after a place.
const CONTEXT_LINES: usize = 3;

/// A place in a bundle: the module, the line and the column, both counted from 1.
static BUNDLED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:file:///)?(backend-\d+\.js):(\d+):(\d+)").expect("the pattern is valid")
});

/// The source maps of the latest versions.
#[derive(Default)]
pub(crate) struct Traces {
    maps: Mutex<VecDeque<(String, Arc<SourceMap>)>>,
}

/// A place in the project's own sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourcePlace {
    /// The file, relative to the project's folder.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// The lines around it, with their numbers and a mark below the column.
    pub frame: String,
    /// The line itself.
    #[serde(skip)]
    pub(crate) text: String,
}

/// A text whose places are those of sources.
pub(crate) struct MappedText {
    pub(crate) text: String,
    /// The first place in the project's own sources that it names.
    pub(crate) place: Option<SourcePlace>,
}

/// The name of a version's module, under which its traces are mapped.
pub(crate) fn module_name(version: u64) -> String {
    format!("backend-{version}.js")
}

impl Traces {
    /// Adds the source map of a module. Errors: it is not a source map.
    pub(crate) fn add(&self, module: String, map: &[u8]) -> Result<()> {
        let map = SourceMap::from_slice(map).map_err(Problem::internal)?;
        let mut maps = self.maps.lock().unwrap_or_else(PoisonError::into_inner);
        maps.push_back((module, Arc::new(map)));
        if maps.len() > VERSIONS {
            maps.pop_front();
        }
        Ok(())
    }

    /// Replaces each place in a bundle by that in the source. Calls of the generated entry module are left out.
    pub(crate) fn map(&self, text: &str) -> MappedText {
        let mut place = None;
        let lines = text.split('\n').filter_map(|line| {
            let mut is_generated = false;
            let mapped = BUNDLED.replace_all(line, |bundled: &Captures<'_>| {
                let Some((file, line, column, own)) = self.source(bundled) else {
                    return bundled[0].to_owned();
                };
                is_generated |= file == ENTRY;
                place = place.take().or(own);
                format!("{file}:{line}:{column}")
            });
            let is_call = line.trim_start().starts_with("at ");
            (!(is_generated && is_call)).then(|| mapped.into_owned())
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        MappedText { text, place }
    }

    /// File, line and column of a place, and the place itself if it is in the project's own sources.
    fn source(&self, bundled: &Captures<'_>) -> Option<(String, u32, u32, Option<SourcePlace>)> {
        let maps = self.maps.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, map) = maps.iter().find(|(module, _)| *module == bundled[1])?;
        let map = Arc::clone(map);
        drop(maps);
        let (line, column): (u32, u32) = (bundled[2].parse().ok()?, bundled[3].parse().ok()?);
        let token = map.lookup_token(line.checked_sub(1)?, column.checked_sub(1)?)?;
        if token.get_dst_line() + 1 != line {
            return None;
        }
        let (file, line, column) =
            (token.get_source()?.to_owned(), token.get_src_line() + 1, token.get_src_col() + 1);
        let is_own = file != ENTRY && !file.contains("node_modules/");
        let source = map.get_source_contents(token.get_src_id()).filter(|_| is_own);
        let own = source.map(|source| SourcePlace::of(file.clone(), line, column, source));
        Some((file, line, column, own))
    }
}

impl SourcePlace {
    /// A place in a file with this content.
    pub(crate) fn of(file: String, line: u32, column: u32, source: &str) -> Self {
        let (index, margin) = (line.saturating_sub(1) as usize, column.saturating_sub(1) as usize);
        let first = index.saturating_sub(CONTEXT_LINES);
        let lines = source.lines().enumerate().skip(first).take(index - first + CONTEXT_LINES + 1);
        let lines: Vec<_> = lines.collect();
        let width = lines.last().map_or(1, |(last, _)| (last + 1).to_string().len());
        let mut frame = String::new();
        for (number, text) in &lines {
            let mark = if *number == index { '>' } else { ' ' };
            let _ = writeln!(frame, "{mark} {:>width$} | {text}", number + 1);
            if *number == index {
                // A tab is as wide below the line as in it.
                let indent = text.chars().take(margin).map(|c| if c == '\t' { c } else { ' ' });
                let _ = writeln!(frame, "  {:width$} | {}^", "", indent.collect::<String>());
            }
        }
        let text = lines.iter().find(|(number, _)| *number == index);
        let text = text.map(|(_, text)| (*text).to_owned()).unwrap_or_default();
        Self { file, line, column, frame, text }
    }
}
