//! `lyceum deploy`

mod drift;
pub(crate) mod prompt;
pub(crate) mod show;
mod target;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use clap::Args;
use lyceum_core::messages::io_reason;
use lyceum_deploy::{BackendChoice, Bundle, DeployOptions, LocalProject, Server};
use lyceum_project::courses;
use lyceum_project::{Action, Config, Plan, State};
use serde_json::json;

use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, counted};
use crate::profile::Env;
use crate::project::evaluator;

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Deploy {
    /// The project's config file, or its folder
    #[arg(short, long, value_name = "PATH", default_value = ".", hide_default_value = true)]
    config: PathBuf,
    /// Display name, instead of the one in the config
    #[arg(short, long)]
    name: Option<String>,
    /// Description, instead of the one in the config
    #[arg(short, long, value_name = "TEXT")]
    description: Option<String>,
    /// Emoji, instead of the one in the config
    #[arg(short, long)]
    emoji: Option<String>,
    /// Zip or folder of the build, instead of the one in the config
    #[arg(short, long, value_name = "PATH")]
    build: Option<PathBuf>,
    /// Environment to deploy to
    #[arg(long, value_enum, default_value_t = Env::Staging)]
    env: Env,
    /// Deploy a backend even if the project has neither routes nor integrations
    #[arg(long, conflicts_with = "no_backend")]
    backend: bool,
    /// Leave the deployed backend unchanged
    #[arg(long)]
    no_backend: bool,
    /// Deploy the backend even if it has not changed
    #[arg(long, conflicts_with = "no_backend")]
    force_backend: bool,
    /// Compatibility date of the backend's runtime: YYYY-MM-DD
    #[arg(long, value_name = "DATE")]
    compatibility_date: Option<String>,
    /// A schema rename: `table.old=new` for a column, `old=new` for a table
    #[arg(long = "rename", value_name = "OLD=NEW")]
    renames: Vec<String>,
    /// Change the schema even if that loses the data that the plan lists
    #[arg(long)]
    accept_data_loss: bool,
    /// Show the plan and let the server check it, without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Deploy without asking for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Fail instead of overwriting values that were changed on the server
    #[arg(long)]
    strict: bool,
    /// Print every HTTP request
    #[arg(long)]
    debug: bool,
}

impl Deploy {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let evaluator = evaluator(&self.config);
        let config = evaluator.config(&self.config)?;
        let options = self.options();
        let slug = LocalProject::slug_of(config.as_ref(), &options)?;
        let (server, state) = self.env.open(&slug, self.debug, printer)?;
        let root = lyceum_project::folder_of(&self.config);
        let build = self.build_path(root, config.as_ref(), &slug)?;
        let bar = printer.progress("Packing", 1);
        let packing = |packed, total| {
            bar.set_length(total);
            bar.set_position(packed);
        };
        let local =
            LocalProject::read(root, config.as_ref(), &options, &build, &evaluator, packing);
        bar.finish_and_clear();
        let mut local = local?;
        refuse_missing(&local, &state)?;
        self.settle(&mut local, config.as_ref(), &state, printer)?;
        let bundle = local.bundle(&state)?;
        if bundle.is_none() && state.backend.is_some() && !self.no_backend {
            printer.warn(
                "the project no longer has routes or integrations; the deployed backend \
                 stays as it is (use --backend to replace it with one without routes)",
            );
        }
        let mut plan = lyceum_project::plan(&state, &local.desired(&state, bundle.as_ref())?)?;
        let problems = problems(&server, &plan)?;
        let shown = show::PlanReport { plan: &plan, state: &state, skipped: local.skipped(&state) };
        let sources = Sources { local: &local, bundle: bundle.as_ref() };
        if self.dry_run {
            let build = local.frontend.artifact.size;
            let rehearsed =
                refuse(problems).and_then(|()| sources.rehearse(&server, &plan, printer));
            if rehearsed.is_err() {
                printer.note(shown.plan(build).trim_end());
            }
            rehearsed?;
            printer.answer(|| shown.plan(build), || shown.json(json!(plan)));
            return Ok(());
        }
        if plan.action == Action::Nothing {
            for part in [&name_of(config.as_ref()), "frontend zip"] {
                printer.done(&format!("✔ No changes detected in {part}"));
            }
            match shown.skipped() {
                Some(skipped) => printer.done(&format!("– API routes: {skipped}")),
                None => printer.done("✔ No changes detected in API routes"),
            }
            let outcome = || shown.json(show::outcome(&plan, &state, 0));
            printer.answer(|| "✦ Nothing to do\n".into(), outcome);
            return Ok(());
        }
        printer.note("Changes detected:");
        printer.note(shown.changes().trim_end());
        refuse(problems)?;
        let skipped = shown.skipped;
        consent(&mut plan, self.yes)?;
        let name = &local.metadata.name;
        let question = match plan.action {
            Action::Create => format!("Create {name} on {}?", state.environment),
            _ => format!("Update {name} to a new version?"),
        };
        if !self.yes && prompt::is_interactive() && !prompt::confirm(&question, true)? {
            return Err(prompt::cancelled());
        }
        let uploaded = sources.upload(&server, &plan, printer)?;
        let applied = sources.apply(&server, &plan, printer)?;
        verify(&plan, &applied, printer)?;
        let shown = show::PlanReport { plan: &plan, state: &applied, skipped };
        print_addresses(&applied, printer, || shown.json(show::outcome(&plan, &applied, uploaded)));
        Ok(())
    }

    fn options(&self) -> DeployOptions {
        let backend = match (self.backend, self.no_backend, self.force_backend) {
            (_, _, true) => BackendChoice::Force,
            (_, true, _) => BackendChoice::Skip,
            (true, ..) => BackendChoice::Include,
            _ => BackendChoice::Detect,
        };
        DeployOptions {
            name: self.name.clone(),
            description: self.description.clone(),
            emoji: self.emoji.clone(),
            build: self.build.clone(),
            backend,
            compatibility_date: self.compatibility_date.clone(),
            renames: self.renames.clone(),
            accept_data_loss: self.accept_data_loss,
        }
    }

    /// Decides what to do with values that differ on the server.
    fn settle(
        &self,
        local: &mut LocalProject,
        config: Option<&Config>,
        state: &State,
        printer: &Printer,
    ) -> Result {
        let drifted = drift::of(&local.metadata, state);
        if drifted.is_empty() {
            return Ok(());
        }
        printer.warn("values on the server differ from the local ones:");
        printer.note(show::fields(&drifted).trim_end());
        if self.strict {
            let message = "the server's values differ from the local ones, and --strict forbids \
                           overwriting them";
            return Err(Failure::new(Code::Conflict, message)
                .hint("copy the server's values into the config, or leave out --strict"));
        }
        if self.dry_run {
            return Ok(());
        }
        if self.yes || !prompt::is_interactive() {
            printer.warn("overwriting the server's values with the local ones");
            return Ok(());
        }
        drift::choose(local, config, &drifted, printer)
    }

    /// The path of the build: from the flag, the config or the prompt.
    fn build_path(&self, root: &Path, config: Option<&Config>, slug: &str) -> Result<PathBuf> {
        if let Some(build) = &self.build {
            return Ok(build.clone());
        }
        if let Some(build) = config.and_then(|config| config.build_path.as_ref()) {
            return Ok(root.join(build));
        }
        if self.yes || !prompt::is_interactive() {
            return Err(Failure::new(Code::Usage, "the path of the build is required").hint(
                "set it with --build, or as buildPath in the config; it can be a zip or a folder",
            ));
        }
        let packed = format!(".lyceum/{slug}.zip");
        let usual = [packed.as_str(), "dist"].into_iter().find(|path| root.join(path).exists());
        prompt::ask("Path of the build (zip or folder)", usual).map(|path| root.join(path))
    }
}

fn name_of(config: Option<&Config>) -> String {
    let name = config.and_then(|config| config.file.file_name());
    name.map_or_else(|| "metadata".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Fails if a secret that an integration needs is set nowhere.
fn refuse_missing(local: &LocalProject, state: &State) -> Result {
    let missing = local.missing(state);
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(", ");
    let mut failure =
        Failure::failed(format!("the integrations need secrets that are missing: {names}"));
    failure.details = show::missing(&missing).lines().map(str::to_owned).collect();
    Err(failure.hint(format!("add {names} to {}", local.root.join(lyceum_deploy::ENV).display())))
}

/// Explains why existing rows do not fit the schema of a plan.
pub(crate) fn problems(server: &Server, plan: &Plan) -> Result<Vec<String>> {
    let Some(database) = plan.desired.database.as_ref().filter(|_| plan.database.is_some()) else {
        return Ok(Vec::new());
    };
    if plan.base == 0 {
        return Ok(Vec::new());
    }
    let problems =
        server.post(&format!("/api/projects/{}/database/problems", plan.slug), &json!(database));
    Ok(serde_json::from_value(problems?).unwrap_or_default())
}

/// Fails if existing rows do not fit the new schema.
pub(crate) fn refuse(problems: Vec<String>) -> Result {
    if problems.is_empty() {
        return Ok(());
    }
    let mut failure =
        Failure::new(Code::Conflict, "the rows of the database do not fit the new schema");
    failure.details = problems;
    Err(failure.hint("correct the rows or the schema and deploy again; nothing was changed"))
}

/// Lets a plan lose the data that it lists only if the user agrees.
pub(crate) fn consent(plan: &mut Plan, yes: bool) -> Result {
    let losses = plan.database.as_ref().map(|change| change.losses.clone()).unwrap_or_default();
    let Some(database) = plan.desired.database.as_mut().filter(|_| !losses.is_empty()) else {
        return Ok(());
    };
    if database.accept_data_loss {
        return Ok(());
    }
    if !yes && prompt::is_interactive() {
        if !prompt::confirm("The database loses the data listed above. Continue?", false)? {
            return Err(prompt::cancelled());
        }
        database.accept_data_loss = true;
        return Ok(());
    }
    let mut failure = Failure::new(Code::Conflict, "the new schema would lose data");
    failure.details = losses;
    Err(failure
        .hint("accept the loss with --accept-data-loss, or declare a rename with --rename old=new"))
}

/// Where uploads are read from.
struct Sources<'a> {
    local: &'a LocalProject,
    bundle: Option<&'a Bundle>,
}

impl Sources<'_> {
    /// The values of the secrets that a plan pushes.
    fn pushed(&self, plan: &Plan) -> BTreeMap<String, String> {
        let known = self.local.secrets.clone().unwrap_or_default();
        let pushed = plan.secrets.pushed().filter_map(|name| known.get_key_value(name));
        pushed.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Lets the server check the whole plan. Data that would be lost is listed; nothing is changed.
    fn rehearse(&self, server: &Server, plan: &Plan, printer: &Printer) -> Result {
        if plan.action == Action::Nothing {
            return Ok(());
        }
        self.upload(server, plan, printer)?;
        let mut tried = plan.clone();
        if let Some(database) = &mut tried.desired.database {
            database.accept_data_loss = true;
        }
        server.rehearse(&tried, &self.pushed(plan))?;
        printer.done("✔ The server accepts the plan");
        Ok(())
    }

    /// Applies a plan, with the values of the secrets that it pushes.
    fn apply(&self, server: &Server, plan: &Plan, printer: &Printer) -> Result<State> {
        let applied = server.apply(plan, &self.pushed(plan))?;
        if plan.secrets.count() > 0 {
            printer.done(&format!("✔ Pushing {}", counted(plan.secrets.count(), "secret")));
        }
        Ok(applied)
    }

    /// Uploads the files that the server does not have yet, and returns the number of bytes sent.
    fn upload(&self, server: &Server, plan: &Plan, printer: &Printer) -> Result<u64> {
        let mut sent = 0;
        if let Some(change) = &plan.frontend {
            let path = self.local.frontend.path();
            let file = File::open(path).map_err(|error| {
                Failure::failed(format!(
                    "'{}' cannot be read: {}",
                    path.display(),
                    io_reason(&error)
                ))
            })?;
            sent += send(server, "Uploading frontend", &change.new, file, printer)?;
        }
        if let (Some(change), Some(bundle)) = (&plan.backend, self.bundle) {
            for module in &change.new.modules {
                let artifact =
                    lyceum_project::Artifact { sha256: module.sha256.clone(), size: module.size };
                let source = Cursor::new(&bundle.bytes);
                sent += send(server, "Uploading backend", &artifact, source, printer)?;
            }
        }
        Ok(sent)
    }
}

/// Uploads one file and shows a progress bar.
pub(crate) fn send(
    server: &Server,
    what: &'static str,
    artifact: &lyceum_project::Artifact,
    source: impl Read + Seek,
    printer: &Printer,
) -> Result<u64> {
    let bar = printer.progress(what, artifact.size);
    let sent = server.upload(artifact, source, |offset| bar.set_position(offset))?.bytes;
    bar.finish_and_clear();
    let sent_size = match sent {
        0 => "already on the server".to_owned(),
        sent => show::bytes(sent),
    };
    printer.done(&format!("✔ {what}: {sent_size}"));
    Ok(sent)
}

/// Checks that the server has every record that the plan set up.
///
/// Errors: some records are missing.
pub(crate) fn verify(plan: &Plan, applied: &State, printer: &Printer) -> Result {
    let (Some(lms), Some(desired)) = (&applied.lms, &plan.desired.lms) else { return Ok(()) };
    let Some(missing) = courses::change(lms, desired, &applied.slug) else {
        printer.done(&format!(
            "✔ Verified {} of {}",
            counted(lms.records.len(), "record"),
            counted(lms.courses.len(), "course")
        ));
        return Ok(());
    };
    let mut failure = Failure::failed("some records of the courses are missing on the server");
    failure.details = missing.records.iter().map(|it| format!("{} {}", it.kind, it.id)).collect();
    Err(failure
        .hint("run `lyceum lms verify` to see what is missing and `lyceum lms setup` to create it"))
}

/// Prints where the project is served.
pub(crate) fn print_addresses(
    state: &State,
    printer: &Printer,
    outcome: impl FnOnce() -> serde_json::Value,
) {
    let version = state.version.unwrap_or_default();
    printer.done(&format!("✔ {} {version} is served on {}", state.slug, state.environment));
    let text = || {
        // The address where people play comes first; the frontend's own address shows a demo.
        let play = state.frontend.as_ref().map(|_| &state.play_url);
        let backend = state.backend.as_ref().map(|_| &state.backend_url);
        let urls = play.into_iter().chain([&state.frontend_url]).chain(backend);
        urls.flat_map(|url| [url, "\n"]).collect()
    };
    printer.answer(text, outcome);
}
