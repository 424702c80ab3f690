//! The plugin in Vite's config.

use std::path::Path;

use super::{FileChange, read};
use crate::failure::Result;

const PACKAGE: &str = "@lyceum/vite";
/// The names of Vite's config, in the order in which Vite searches them.
const FILES: [&str; 6] = [
    "vite.config.js",
    "vite.config.mjs",
    "vite.config.ts",
    "vite.config.cjs",
    "vite.config.mts",
    "vite.config.cts",
];

/// The state of the plugin in a project.
pub(super) enum Plugin {
    /// The config names it.
    Present,
    /// The config with the plugin.
    Added(FileChange),
    /// The text that a person has to write, because the config has an unusual form.
    ByHand(String),
}

/// Adds the plugin to Vite's config, which is created if it is missing.
pub(super) fn with_plugin(folder: &Path, is_typed: bool) -> Result<Plugin> {
    let Some(file) = FILES.into_iter().find(|name| folder.join(name).is_file()) else {
        let file = if is_typed { "vite.config.ts" } else { "vite.config.js" };
        let text = format!(
            "import {{ lyceum }} from \"{PACKAGE}\";\nimport {{ defineConfig }} from \"vite\";\n\n\
             export default defineConfig({{\n  plugins: [lyceum()],\n}});\n"
        );
        let what = vec!["create it with the plugin lyceum()".to_owned()];
        return Ok(Plugin::Added(FileChange { file: file.to_owned(), what, text }));
    };
    let text = read(folder, file)?;
    if text.contains(PACKAGE) {
        return Ok(Plugin::Present);
    }
    Ok(match added(&text) {
        Some(text) => {
            let what = vec![format!("import {PACKAGE} and add the plugin lyceum()")];
            Plugin::Added(FileChange { file: file.to_owned(), what, text })
        }
        None => Plugin::ByHand(format!(
            "add `import {{ lyceum }} from \"{PACKAGE}\"` and the plugin `lyceum()` to {file}"
        )),
    })
}

/// The text with the plugin; `None` unless it is a module with one list of plugins, or with one config object.
fn added(text: &str) -> Option<String> {
    let is_module = text.contains("export default") && !text.contains("require(");
    let once = |part: &str| is_module && text.matches(part).count() == 1;
    let text = if once("plugins: [") {
        let (before, after) = text.split_once("plugins: [")?;
        let comma = match after.trim_start().starts_with(']') {
            true => "",
            false if after.starts_with(['\n', '\r']) => ",",
            false => ", ",
        };
        format!("{before}plugins: [lyceum(){comma}{after}")
    } else if once("defineConfig({") && !text.contains("plugins") {
        text.replace("defineConfig({", "defineConfig({\n  plugins: [lyceum()],")
    } else {
        return None;
    };
    let quote = if text.contains("from '") { '\'' } else { '"' };
    Some(format!("import {{ lyceum }} from {quote}{PACKAGE}{quote};\n{text}"))
}
