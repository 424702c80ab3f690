//! The templates of new projects. Their files are in `crates/lyceum/templates`.

use std::path::Path;
use std::{fs, io};

use clap::ValueEnum;
use rust_embed::RustEmbed;

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Template {
    /// An app in TypeScript, with Vite
    Vanilla,
    /// An app with React
    React,
    /// An app with a backend: database, key-value store, bucket and a secret
    Backend,
    /// Questions and a lesson in QTI, with a preview
    Lessons,
}

/// The names of the project in the files of a template.
#[derive(Clone, Copy)]
pub(crate) struct Names<'n> {
    pub(crate) name: &'n str,
    pub(crate) slug: &'n str,
}

#[derive(RustEmbed)]
#[folder = "templates"]
struct Files;

/// Files whose names begin with a dot in a project, but not here, where Git would obey them.
const DOTTED: [&str; 2] = ["gitignore", "env.development"];

impl Template {
    /// Its name on the command line.
    pub(crate) fn title(self) -> String {
        let value = self.to_possible_value().expect("no template is hidden");
        value.get_name().to_owned()
    }

    /// Writes the files into a folder, which is created if it is missing. Returns their paths.
    pub(crate) fn write(self, folder: &Path, names: Names<'_>) -> io::Result<Vec<String>> {
        let own = format!("{}/", self.title());
        let mut written = Vec::new();
        for path in Files::iter() {
            let Some(name) = path.strip_prefix(&own) else { continue };
            let content = Files::get(&path).expect("the path is one of its own").data;
            let text = String::from_utf8(content.into_owned()).expect("templates are text");
            let text = text
                .replace("{{name}}", names.name)
                .replace("{{slug}}", names.slug)
                .replace("{{version}}", env!("CARGO_PKG_VERSION"));
            let name = if DOTTED.contains(&name) { format!(".{name}") } else { name.to_owned() };
            let file = folder.join(&name);
            fs::create_dir_all(file.parent().unwrap_or(folder))?;
            fs::write(file, text)?;
            written.push(name);
        }
        written.sort();
        Ok(written)
    }
}
