//! `lyceum create`

mod template;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, ValueEnum};
use lyceum_project::slug_of;
use serde_json::json;

use crate::commands::deploy::prompt;
use crate::failure::{Code, Failure, Result};
use crate::printer::Printer;
use template::{Names, Template};

/// The name of a project if neither the user nor the folder gives one.
const USUAL_NAME: &str = "my-app";
/// Characters that end a text or begin a tag in one of the languages of the templates.
const NOT_IN_NAMES: [char; 9] = ['"', '\\', '<', '>', '{', '}', '&', '|', '`'];
/// The number of files of a folder that a message names.
const NAMED_FILES: usize = 3;

#[derive(Args)]
pub(crate) struct Create {
    /// The folder to create [default: the name's slug]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The template that the project starts from [default: vanilla, or the answer to a question]
    #[arg(short, long, value_enum)]
    template: Option<Template>,
    /// Display name of the project [default: the folder's name, or the answer to a question]
    #[arg(short, long)]
    name: Option<String>,
    /// Do not run `npm install`
    #[arg(long)]
    no_install: bool,
}

impl Create {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        if let Some(folder) = &self.folder {
            refuse_filled(folder)?;
        }
        let name = self.name()?;
        let slug = checked_slug(&name)?;
        let folder = self.folder.clone().unwrap_or_else(|| PathBuf::from(&slug));
        refuse_filled(&folder)?;
        let template = self.template()?;
        let names = Names { name: &name, slug: &slug };
        let files = template.write(&folder, names).map_err(|error| {
            Failure::failed(format!("cannot write into '{}': {error}", folder.display()))
        })?;
        let title = template.title();
        printer
            .done(&format!("created '{name}' in {} from the template {title}", folder.display()));
        if !self.no_install {
            install(&folder, printer)?;
        }
        let mut next = vec![format!("cd {}", folder.display())];
        next.extend(self.no_install.then(|| "npm install".to_owned()));
        next.push("npm run dev".to_owned());
        printer.note(&format!("Next: {}", next.join(" && ")));
        printer.answer(String::new, || {
            json!({
                "folder": folder, "name": name, "slug": slug, "template": title, "files": files,
                "installed": !self.no_install, "next": next,
            })
        });
        Ok(())
    }

    /// The name from the flag, the terminal or the folder.
    fn name(&self) -> Result<String> {
        if let Some(name) = &self.name {
            return Ok(name.trim().to_owned());
        }
        let of_folder = self.folder.as_deref().and_then(name_of);
        if prompt::is_interactive() {
            return prompt::ask(
                "Name of the project",
                Some(of_folder.as_deref().unwrap_or(USUAL_NAME)),
            );
        }
        of_folder.ok_or_else(|| {
            Failure::new(Code::Usage, "the project has no name")
                .hint("name its folder, as in `lyceum create my-app`, or use --name")
        })
    }

    /// The template from the flag or the terminal.
    fn template(&self) -> Result<Template> {
        if let Some(template) = self.template {
            return Ok(template);
        }
        if !prompt::is_interactive() {
            return Ok(Template::Vanilla);
        }
        let known: Vec<String> = Template::value_variants().iter().map(|it| it.title()).collect();
        loop {
            let question = format!("Template, one of {}", known.join(", "));
            let answer = prompt::ask(&question, Some(&known[0]))?;
            if let Ok(template) = Template::from_str(&answer, true) {
                return Ok(template);
            }
        }
    }
}

/// The name of a folder, also of `.`.
fn name_of(folder: &Path) -> Option<String> {
    let whole = fs::canonicalize(folder).or_else(|_| std::path::absolute(folder)).ok()?;
    Some(whole.file_name()?.to_string_lossy().into_owned())
}

/// The slug of a name. Errors: the name cannot be a project's.
fn checked_slug(name: &str) -> Result<String> {
    if let Some(found) = name.chars().find(|c| NOT_IN_NAMES.contains(c) || c.is_control()) {
        let message = format!("the name must not contain {found:?}: got '{name}'");
        return Err(Failure::new(Code::Usage, message).hint("choose another one with --name"));
    }
    let slug = slug_of(name);
    if slug.is_empty() {
        let message = format!("no address can be derived from the name '{name}'");
        return Err(Failure::new(Code::Usage, message)
            .hint("use letters from a to z or digits, as in `--name 'Rivers 1'`"));
    }
    Ok(slug)
}

/// Refuses a folder that has files, unless it only is a new Git repository.
fn refuse_filled(folder: &Path) -> Result {
    let shown = folder.display();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            let message = format!("'{shown}' cannot be the project's folder: {error}");
            return Err(Failure::new(Code::Conflict, message).hint("choose another folder"));
        }
    };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != ".git").collect();
    if names.is_empty() {
        return Ok(());
    }
    names.sort();
    let more = match names.len().saturating_sub(NAMED_FILES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.truncate(NAMED_FILES);
    let message =
        format!("the folder '{shown}' is not empty: it contains {}{more}", names.join(", "));
    Err(Failure::new(Code::Conflict, message).hint(
        "choose another folder; to add Lyceum to an existing project, run `lyceum init` in it",
    ))
}

/// Runs `npm install`. What npm prints goes to standard error, because the answer is on standard output.
fn install(folder: &Path, printer: &Printer) -> Result {
    printer.note("Installing packages with npm …");
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund"]).current_dir(folder).stdin(Stdio::null());
    let outcome = npm.stdout(io::stderr()).status();
    let why = match outcome {
        Ok(status) if status.success() => return Ok(()),
        Ok(_) => "npm could not install the packages; the files are there".to_owned(),
        Err(error) => format!("npm could not be started: {error}; the files are there"),
    };
    Err(Failure::failed(why).hint(format!(
        "install Node 22 or newer from https://nodejs.org if it is missing, then run `npm install` in '{}'",
        folder.display()
    )))
}
