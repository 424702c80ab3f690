//! `lyceum lms`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use lyceum_core::text::segment;
use lyceum_project::{Config, slug_of};
use serde_json::{Value, json};

use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, table};
use crate::profile::{self, Env, LOCAL_TOKEN, usual_profile};
use crate::remote::{Answer, Remote, SignIn};

#[derive(Subcommand)]
pub(crate) enum Lms {
    /// Create the project's courses: courses, components, resources and enrollments
    Setup {
        #[command(flatten)]
        at: Target,
        /// Show what would be created, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Check that the server has each record of the courses, and list missing ones
    Verify {
        #[command(flatten)]
        at: Target,
    },
    /// Print the courses in the project's config
    Config {
        #[command(flatten)]
        at: Target,
    },
    /// Remove the project's courses. The results of players stay
    #[command(visible_alias = "cleanup")]
    Remove {
        #[command(flatten)]
        at: Target,
        /// Show what would be deleted, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
}

/// The game, and its server.
#[derive(Args)]
pub(crate) struct Target {
    /// The environment whose server is used [default: the project's running sandbox]
    #[arg(
        long,
        value_enum,
        value_name = "ENV",
        conflicts_with = "server",
        help_heading = "Server"
    )]
    env: Option<Env>,
    /// Address of a server, instead of an environment
    #[arg(long, alias = "url", value_name = "URL", help_heading = "Server")]
    server: Option<String>,
    /// Id or slug of the game [default: from the project's config]
    #[arg(long, value_name = "GAME")]
    game: Option<String>,
    /// The project's config file, or its folder
    #[arg(
        short,
        long,
        alias = "config-path",
        value_name = "PATH",
        default_value = ".",
        hide_default_value = true
    )]
    config: PathBuf,
    #[command(flatten)]
    sign_in: SignIn,
}

/// A server, and the game on it.
struct GameServer {
    remote: Remote,
    game: String,
    config: Option<Config>,
}

impl Lms {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::Setup { at, dry_run } => set_up(&at.open()?, dry_run, printer),
            Self::Verify { at } => verify(&at.open()?, printer),
            Self::Config { at } => config(&at.open()?, printer),
            Self::Remove { at, dry_run } => remove(&at.open()?, dry_run, printer),
        }
    }
}

impl Target {
    fn open(&self) -> Result<GameServer> {
        let config = crate::project::config(&self.config)?;
        let slug = config.as_ref().and_then(|it| it.name.as_deref()).map(slug_of);
        let named = self.game.clone().or(slug);
        let (remote, listed) = self.remote(named.as_deref())?;
        let Some(game) = named.or(listed) else {
            return Err(Failure::new(
                Code::Usage,
                "the game is not known: there is no project config in this folder",
            )
            .hint("name the game with --game, or the config with --config"));
        };
        Ok(GameServer { remote, game, config })
    }

    /// The signed-in server, and the game's id if a sandbox lists it.
    fn remote(&self, named: Option<&str>) -> Result<(Remote, Option<String>)> {
        if let Some(env) = self.env {
            return Ok((Remote::of(&env.connection(&usual_profile(), named)?)?, None));
        }
        if let Some(server) = &self.server {
            let key = profile::api_key();
            let token = key.as_deref().unwrap_or(LOCAL_TOKEN);
            let hint = "start the server, or correct the address with --server";
            return Ok((self.sign_in.to(server, Some(token), hint)?, None));
        }
        let (url, entry) = profile::sandbox(named)
            .map_err(|failure| failure.hint("choose a server with --env or --server"))?;
        let hint =
            "start the sandbox with `lyceum sandbox`, or choose a server with --env or --server";
        Ok((self.sign_in.to(&url, Some(LOCAL_TOKEN), hint)?, entry.map(|entry| entry.game_id)))
    }
}

impl GameServer {
    fn path(&self, action: &str) -> String {
        format!("/api/lms/{action}/{}", segment(&self.game))
    }

    fn get(&self, action: &str) -> Result<Value> {
        let answer = self.remote.get(&self.path(action))?;
        self.accepted(answer)
    }

    /// The body of a successful response.
    fn accepted(&self, answer: Answer) -> Result<Value> {
        match answer.status {
            200..300 => Ok(answer.body),
            _ => Err(self.remote.refusal(&answer)),
        }
    }

    /// The courses in the project's config, in the form that the server expects.
    fn setup(&self) -> Result<Value> {
        let lms = self.config.as_ref().and_then(|config| config.integrations.lms.as_ref());
        let Some(lms) = lms.filter(|lms| !lms.courses.is_empty()) else {
            let message = "the project's config has no courses";
            return Err(Failure::new(Code::Usage, message).hint(
                "add courses to 'integrations.lms' of lyceum.config.json, or choose another config with \
                 --config",
            ));
        };
        let courses: Vec<Value> = lms
            .courses
            .iter()
            .map(|course| {
                json!({
                    "subject": course.subject, "grade": course.grade, "totalXp": course.total_xp,
                    "masterableUnits": course.masterable_units, "title": course.title,
                    "courseCode": course.course_code,
                })
            })
            .collect();
        let org = lms.organization.clone().unwrap_or_default();
        let organization = json!({ "id": org.id, "name": org.name, "type": org.kind });
        Ok(json!({ "gameId": self.game, "organization": organization, "courses": courses }))
    }
}

fn set_up(server: &GameServer, dry_run: bool, printer: &Printer) -> Result {
    let query = if dry_run { "?dryRun=true" } else { "" };
    let body = server.setup()?.to_string();
    let answer = server.remote.post(&format!("/api/lms/setup{query}"), &body)?;
    let reply = server.accepted(answer)?;
    if dry_run {
        printer.answer(|| record_table(&reply["found"], planned_change), || reply.clone());
        printer.done("nothing was changed");
        return Ok(());
    }
    printer.answer(|| courses(&reply), || reply.clone());
    let count = reply["courses"].as_array().map_or(0, Vec::len);
    let noun = if count == 1 { "course" } else { "courses" };
    let organization = text(&reply["organization"]["name"]);
    printer.done(&format!("set up {count} {noun} of '{}' at '{organization}'", server.game));
    Ok(())
}

fn verify(server: &GameServer, printer: &Printer) -> Result {
    let reply = server.get("verify")?;
    printer.answer(|| record_table(&reply["courses"], |state| state), || reply.clone());
    let missing = reply["missing"].as_array().map(Vec::as_slice).unwrap_or_default();
    if missing.is_empty() {
        printer.done("all records exist");
        return Ok(());
    }
    let details = missing.iter().map(text).collect();
    let failure = Failure::failed(format!("{} of the records are missing", missing.len()));
    Err(Failure { details, ..failure }.hint("run `lyceum lms setup` to create them"))
}

fn config(server: &GameServer, printer: &Printer) -> Result {
    let lms = server.get("config")?;
    printer.answer(|| format!("{:#}\n", json!({ "integrations": { "lms": lms } })), || lms.clone());
    Ok(())
}

fn remove(server: &GameServer, dry_run: bool, printer: &Printer) -> Result {
    let integrations = server.get("integrations")?;
    printer.answer(|| courses(&integrations), || integrations.clone());
    if dry_run {
        printer.done("nothing was changed");
        return Ok(());
    }
    let answer = server.remote.delete(&server.path("integrations"))?;
    server.accepted(answer)?;
    printer.done(&format!("removed the courses of '{}'; the results of players stay", server.game));
    Ok(())
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn rows(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

fn courses(integration: &Value) -> String {
    let names = ["subject", "grade", "courseId", "title", "totalXp"];
    let row = |course: &Value| names.iter().map(|name| text(&course[*name])).collect();
    let rows: Vec<Vec<String>> = rows(&integration["courses"]).map(row).collect();
    table(&["SUBJECT", "GRADE", "COURSE", "TITLE", "XP"], &rows)
}

/// The change that setup would make to a record in that state.
fn planned_change(state: &str) -> &str {
    match state {
        "missing" => "create",
        "deleted" => "restore",
        _ => "update",
    }
}

/// The state of each course's records.
fn record_table(courses: &Value, word: impl Fn(&str) -> &str) -> String {
    let mut lines = Vec::new();
    for course in rows(courses) {
        for resource in rows(&course["resources"]) {
            let state = word(resource["state"].as_str().unwrap_or_default()).to_owned();
            let cells = [&course["subject"], &course["grade"], &resource["type"], &resource["id"]];
            lines.push(cells.into_iter().map(text).chain([state]).collect());
        }
    }
    table(&["SUBJECT", "GRADE", "RECORD", "ID", "STATE"], &lines)
}
