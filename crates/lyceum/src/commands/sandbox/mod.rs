//! `lyceum sandbox`

mod platform;

use std::io::{ErrorKind, Read};
use std::net::{Ipv4Addr, TcpListener as Bound};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use clap::Args;
use lyceum_core::config::{self, LoadedConfig, Secret, SettingOrigin};
use lyceum_core::messages::io_reason;
use lyceum_core::messages::must_be_one_of;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_core::{Message, Problem, origins};
use lyceum_games::games::NewGame;
use lyceum_games::players;
use lyceum_project::{Config, Course, slug_of};
use lyceum_sandbox::registry::{self, RunningSandbox};
use lyceum_sandbox::{
    DatabaseFile, Demo, DemoLearner, DemoOrganization, LearningMode, Sandbox, SchoolRole, Tracking,
    ports,
};
use lyceum_server::Server;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::commands::serve::runtime;
use crate::failure::{Code, Failure, Result};
use crate::logs;
use crate::printer::Printer;
use crate::profile::LOCAL_TOKEN;
use crate::reference;
use crate::settings::flag;

/// Default path of the database.
const DATABASE: &str = ".lyceum/sandbox.db";

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Run {
    /// Port to listen on
    #[arg(short, long, default_value_t = 4321)]
    port: u16,
    /// Listen on the next free port if the port is in use
    #[arg(long, hide = true)]
    next_free_port: bool,
    /// Start without demo data
    #[arg(long)]
    no_seed: bool,
    /// Delete the existing database and start with a new one
    #[arg(long, conflicts_with = "memory")]
    recreate_db: bool,
    /// Keep the database in memory only. It is lost when the sandbox stops
    #[arg(long, conflicts_with = "db_path")]
    memory: bool,
    /// Database file [default: .lyceum/sandbox.db]
    #[arg(long, value_name = "PATH")]
    db_path: Option<PathBuf>,
    /// The project's config file, or its folder
    #[arg(
        short,
        long,
        visible_alias = "config-path",
        value_name = "PATH",
        default_value = ".",
        hide_default_value = true
    )]
    config: PathBuf,
    /// Name of the project [default: from the config, or else the folder's name]
    #[arg(long, value_name = "NAME")]
    project_name: Option<String>,
    /// Slug of the project [default: derived from the name]
    #[arg(long, value_name = "SLUG")]
    project_slug: Option<String>,
    /// Role of the demo user on the platform: player, developer or admin
    #[arg(long, value_name = "ROLE", default_value = "developer", value_parser = platform_role)]
    platform_role: players::PlayerRole,
    /// Also accept requests from this origin and for its host, such as a tunnel. localhost is always
    /// accepted. Can be given several times
    #[arg(long = "origin", value_name = "URL", value_parser = origins::read)]
    origins: Vec<String>,
    /// Stop when standard input closes, so that it ends together with its parent process
    #[arg(long)]
    until_stdin_ends: bool,
    #[command(flatten)]
    tracking: TrackingArgs,
}

/// The options of the learning integration. Each has a second spelling, `--timeback-…`.
#[derive(Args)]
#[command(next_help_heading = "Learning integration")]
#[expect(clippy::struct_field_names, reason = "the flags are named so")]
#[expect(clippy::doc_markdown, reason = "this is what --help prints")]
struct TrackingArgs {
    /// Use the Lyceum server at http://localhost:4322 as the learning platform, unless other addresses are set
    #[arg(long, alias = "timeback-local")]
    tracking_local: bool,
    /// Address of the platform's rosters [env: TRACKING_ONEROSTER_API_URL]
    #[arg(long, value_name = "URL", alias = "timeback-oneroster-url")]
    tracking_oneroster_url: Option<String>,
    /// Address of the platform's events
    #[arg(long, value_name = "URL", alias = "timeback-caliper-url")]
    tracking_caliper_url: Option<String>,
    /// Address of the platform's token endpoint [env: TRACKING_API_AUTH_URL]
    #[arg(long, value_name = "URL", alias = "timeback-auth-url")]
    tracking_auth_url: Option<String>,
    /// Id of the client on the platform [env: TRACKING_API_CLIENT_ID]
    #[arg(long, value_name = "ID", alias = "timeback-client-id")]
    tracking_client_id: Option<String>,
    /// Secret of the client. Use the variable to keep it out of process lists [env: TRACKING_API_CLIENT_SECRET]
    #[arg(long, value_name = "SECRET", alias = "timeback-client-secret")]
    tracking_client_secret: Option<String>,
    /// Course that the student takes [env: SANDBOX_TRACKING_COURSE_ID]
    #[arg(long, value_name = "ID", alias = "timeback-course-id")]
    tracking_course_id: Option<String>,
    /// Student that the demo user represents [env: SANDBOX_TRACKING_STUDENT_ID]
    #[arg(long, value_name = "ID", alias = "timeback-student-id")]
    tracking_student_id: Option<String>,
    /// Role of the demo user: student, parent, teacher, administrator or guardian
    #[arg(long, value_name = "ROLE", alias = "timeback-role", value_parser = role)]
    tracking_role: Option<SchoolRole>,
    /// Id of the demo user's organization
    #[arg(long, value_name = "ID", alias = "timeback-org-id")]
    tracking_org_id: Option<String>,
    /// Name of the organization
    #[arg(long, value_name = "NAME", alias = "timeback-org-name")]
    tracking_org_name: Option<String>,
    /// Type of the organization: school, district, department, …
    #[arg(long, value_name = "TYPE", alias = "timeback-org-type")]
    tracking_org_type: Option<String>,
}

fn platform_role(name: &str) -> Result<players::PlayerRole, Message> {
    let roles = players::PlayerRole::ALL.map(players::PlayerRole::name);
    players::PlayerRole::of(name).ok_or_else(|| must_be_one_of(&roles, name))
}

fn role(name: &str) -> Result<SchoolRole, Message> {
    SchoolRole::of(name).ok_or_else(|| must_be_one_of(&SchoolRole::ALL.map(|(name, _)| name), name))
}

/// Reads a variable under its two names: `TRACKING_…` and `TIMEBACK_…`.
fn variable(name: &str) -> Option<String> {
    let other = || config::variable(&name.replacen("TRACKING", "TIMEBACK", 1));
    config::variable(name).or_else(other).filter(|value| !value.is_empty())
}

impl TrackingArgs {
    fn tracking(&self) -> Tracking {
        let or = |flag: &Option<String>, name: &str| flag.clone().or_else(|| variable(name));
        Tracking {
            local: self.tracking_local,
            oneroster_url: or(&self.tracking_oneroster_url, "TRACKING_ONEROSTER_API_URL"),
            caliper_url: self.tracking_caliper_url.clone(),
            auth_url: or(&self.tracking_auth_url, "TRACKING_API_AUTH_URL"),
            client_id: or(&self.tracking_client_id, "TRACKING_API_CLIENT_ID"),
            client_secret: or(&self.tracking_client_secret, "TRACKING_API_CLIENT_SECRET")
                .map(Secret::new),
            course_id: or(&self.tracking_course_id, "SANDBOX_TRACKING_COURSE_ID"),
            student_id: or(&self.tracking_student_id, "SANDBOX_TRACKING_STUDENT_ID"),
            role: self.tracking_role,
            organization: DemoOrganization {
                id: self.tracking_org_id.clone(),
                name: self.tracking_org_name.clone(),
                kind: self.tracking_org_type.clone(),
            },
        }
    }
}

impl Run {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let project = crate::project::config(&self.config)?;
        let tracking = self.tracking.tracking();
        let mode = LearningMode::of(&tracking, project.as_ref()).map_err(|problem| {
            let failure = Failure { code: Code::Usage, ..Failure::from(problem) };
            failure.hint("set all of them, or none to use the sandbox itself as the platform")
        })?;
        let other = platform::open(&tracking, mode)?;
        let mut demo = self.demo(project.as_ref(), tracking, mode)?;
        let loaded = settings(printer)?;
        logs::start(&loaded, None)?;
        let free = if self.next_free_port { ports::listen_from(self.port) } else { None };
        let bound = free.map_or_else(|| bind(self.port), Ok)?;
        let runtime = runtime(loaded.config.server.workers)?;
        if let Some(other) = &other {
            runtime.block_on(platform::check(other, &mut demo, printer));
        }
        let port = bound.local_addr().map_err(Problem::internal)?.port();
        let mut config = loaded.config;
        let url = format!("http://localhost:{port}");
        config.server.listen = format!("127.0.0.1:{port}");
        config.server.public_url = Some(url.clone());
        let makes_games = self.platform_role != players::PlayerRole::Player;
        let clock = SystemClock;
        let database_file = match self.memory {
            true => DatabaseFile::in_memory()?,
            false => DatabaseFile::on_disk(&self.database(), self.recreate_db)?,
        };
        config.store.data = database_file.data();
        let (now, migrations) = (clock.now(), lyceum_api::migrations());
        let Sandbox { mut database_file, db, keyring, player, link } =
            Sandbox::open(database_file, &migrations, now, &url, &demo)?;
        database_file.publish_address(&url);
        let entry = RunningSandbox {
            pid: std::process::id(),
            port,
            url,
            project: demo.project.display_name,
            slug: demo.project.slug,
            game_id: player.game.clone(),
            learning: mode.name().map(str::to_owned),
            database: database_file.file().and_then(|file| std::path::absolute(file).ok()),
            started_at: now.to_string(),
        };
        runtime.block_on(async {
            let stop = lyceum_server::stop_signal()?;
            let ended = self.until_stdin_ends.then(stdin_ends);
            let listener = TcpListener::from_std(bound).map_err(Problem::internal)?;
            let server = Server::new(listener, config, db, keyring, Arc::new(clock)).await?;
            let server = server
                .as_sandbox(player, makes_games, platform::learning(other, mode))
                .open_to(self.origins)
                .with_commands(reference::markdown);
            let _registered = registry::register(entry.clone()).inspect_err(|problem| {
                printer.warn(&format!("other tools cannot find this sandbox: {problem}"));
            });
            greet(printer, &entry, &link);
            let stop = async {
                match ended {
                    Some(ended) => tokio::select! { () = stop => {}, _ = ended => {} },
                    None => stop.await,
                }
            };
            server.run(stop).await;
            Ok(())
        })
    }

    fn database(&self) -> PathBuf {
        self.db_path.clone().unwrap_or_else(|| DATABASE.into())
    }

    /// The project, and its learning platform.
    fn demo(
        &self,
        config: Option<&Config>,
        tracking: Tracking,
        mode: LearningMode,
    ) -> Result<Demo> {
        let named = self.project_name.clone().or_else(|| config?.name.clone());
        let display_name = named.unwrap_or_else(|| folder_name(&self.config));
        let slug = self.project_slug.clone().unwrap_or_else(|| slug_of(&display_name));
        if slug.is_empty() {
            let message = format!("cannot make a slug from the name '{display_name}'");
            return Err(Failure::new(Code::Usage, message).hint("set one with --project-slug"));
        }
        let lms = config.and_then(|config| config.integrations.lms.clone());
        let configured = lms.as_ref().and_then(|lms| lms.organization.clone()).unwrap_or_default();
        let organization = DemoOrganization {
            id: tracking.organization.id.or(configured.id),
            name: tracking.organization.name.or(configured.name),
            kind: tracking.organization.kind.or(configured.kind),
        };
        let courses = match (mode, lms) {
            (LearningMode::Disabled, _) => Vec::new(),
            (_, Some(lms)) => lms.courses,
            (LearningMode::Mock, None) => vec![made_up_course()],
            (_, None) => Vec::new(),
        };
        let learner = DemoLearner {
            role: tracking.role.unwrap_or_default(),
            organization,
            courses,
            course_id: tracking.course_id,
            elsewhere: matches!(mode, LearningMode::Local | LearningMode::Remote),
            // With another platform, the student is a user of that server.
            student_id: tracking.student_id.filter(|_| mode == LearningMode::Mock),
        };
        let project = NewGame {
            slug,
            display_name,
            description: config.and_then(|config| config.description.clone()),
            emoji: config.and_then(|config| config.emoji.clone()),
            platform: config.and_then(|config| config.platform.clone()),
            metadata: serde_json::Map::new(),
        };
        Ok(Demo { project, role: self.platform_role, seeds: !self.no_seed, learner })
    }
}

/// Listens on a port. If it is in use, the error says by which program, and suggests a free port.
pub(super) fn bind(port: u16) -> Result<Bound> {
    let failed = |error: std::io::Error| {
        if error.kind() != ErrorKind::AddrInUse {
            return Failure::failed(format!("cannot listen on port {port}: {}", io_reason(&error)))
                .hint("choose another with --port");
        }
        let sandboxes = registry::running();
        let who = match sandboxes.iter().find(|entry| entry.port == port) {
            Some(RunningSandbox { project, pid, .. }) => {
                format!("the sandbox of '{project}' (process {pid})")
            }
            None => match ports::holder(port) {
                Some(holder) => format!("'{}' (process {})", holder.program, holder.pid),
                None => "another user's program".to_owned(),
            },
        };
        let failure = Failure::failed(format!("port {port} is in use by {who}"));
        match ports::free_above(port) {
            Some(free) => failure.hint(format!("use --port {free}, which is free, or stop it")),
            None => failure.hint("choose another with --port, or stop that program"),
        }
    };
    let bound = Bound::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
    bound.set_nonblocking(true).map_err(Problem::internal)?;
    Ok(bound)
}

/// The settings. A sandbox logs less than a server by default.
fn settings(printer: &Printer) -> Result<LoadedConfig> {
    let load = |flags: &[config::FlagValue]| -> Result<LoadedConfig> {
        Ok(config::load(None, config::environment()?, flags)?)
    };
    let loaded = load(&[])?;
    // Migrations concern the server's developers only.
    let level = if printer.is_verbose() { "info,refinery_core=warn" } else { "warn" };
    let flags = flag("--verbose", "server.log_level", Some(level.to_owned()));
    match loaded.origin("server.log_level") {
        SettingOrigin::Default => load(flags.as_slice()),
        _ => Ok(loaded),
    }
}

/// The demo courses, for a project without a config.
fn made_up_course() -> Course {
    Course {
        subject: "Math".to_owned(),
        grade: "3".to_owned(),
        total_xp: Some(1000.0),
        masterable_units: Some(20.0),
        title: None,
        course_code: None,
    }
}

/// The name of a folder, or of the folder that contains a file.
fn folder_name(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = if absolute.is_file() { absolute.parent() } else { Some(absolute.as_path()) };
    let name = folder.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    name.filter(|name| !slug_of(name).is_empty()).unwrap_or_else(|| "my-game".to_owned())
}

/// Completes when standard input closes.
pub(super) fn stdin_ends() -> oneshot::Receiver<()> {
    let (ends, ended) = oneshot::channel();
    thread::spawn(move || {
        let mut bytes = [0; 1024];
        while std::io::stdin().read(&mut bytes).is_ok_and(|count| count > 0) {}
        let _ = ends.send(());
    });
    ended
}

fn greet(printer: &Printer, entry: &RunningSandbox, link: &str) {
    let RunningSandbox { url, project, slug, database, .. } = entry;
    let learning = entry.learning.as_deref().unwrap_or("disabled");
    let database_place = match database {
        Some(file) => file.display().to_string(),
        None => "in memory, lost when the sandbox stops".to_owned(),
    };
    let console = format!("{url}/console/enter?link={link}");
    let summary: Value = json!({
        "url": url, "api": format!("{url}/api"), "port": entry.port, "pid": entry.pid,
        "learning": entry.learning, "token": LOCAL_TOKEN, "gameId": entry.game_id,
        "project": { "name": project, "slug": slug }, "database": database, "console": console,
    });
    printer.answer(String::new, || summary);
    let version = env!("CARGO_PKG_VERSION");
    printer.done(&format!("Lyceum sandbox {version} on {url}/api"));
    for (name, value) in [
        ("Project", format!("{project} ({slug})")),
        ("Token", format!("any, such as {LOCAL_TOKEN}")),
        ("Learning", learning.to_owned()),
        ("Console", format!("{console} (signs in once)")),
        ("Database", database_place),
        ("Try", format!("curl -H 'Authorization: Bearer {LOCAL_TOKEN}' {url}/api/users/me")),
    ] {
        printer.note(&format!("  {name:9} {value}"));
    }
}
