//! The arguments of the command line. Each command declares its own arguments in its file.

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    account, admin, badge, bucket, client, completions, config, create, db, debug, demo, deploy,
    deployments, dev, doctor, events, export, import, init, keys, kv, lesson, listen, lms, man,
    openapi, projects, qti, sandbox, secrets, serve, standards, trigger,
};

/// A learning platform in one binary: rosters, gradebook, resources, assessment and analytics
#[derive(Parser)]
#[command(version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The amount and the form of what a command prints.
#[derive(Args)]
pub(crate) struct Output {
    /// Print only errors and the result
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Print each step
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// Print the result as one JSON value
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the server
    Serve(serve::Serve),
    /// Run a server for app developers, with a demo user and demo data
    Sandbox(Box<sandbox::Run>),
    /// Create a project from a template
    Create(create::Create),
    /// Add Lyceum to an existing project
    Init(init::Init),
    /// Serve a project's backend from its sources; reload it on save
    Dev(Box<dev::Dev>),
    /// Publish a project: build, backend, database and secrets
    Deploy(Box<deploy::Deploy>),
    /// List, roll back and promote versions of a deployed project
    #[command(subcommand)]
    Deployments(deployments::Deployments),
    /// List or delete the projects on a server
    #[command(subcommand)]
    Projects(projects::Projects),
    /// Print the output of a deployed backend, and why it stopped
    Logs(deployments::Logs),
    /// Push the secrets of a deployed project, or list their names
    #[command(subcommand)]
    Secrets(secrets::Secrets),
    /// Compare, change, back up and restore the database of a project
    #[command(subcommand)]
    Db(db::Db),
    /// List, read, write and delete keys of a project's KV store
    #[command(subcommand)]
    Kv(kv::Kv),
    /// List, read, write and delete files in a project's bucket
    #[command(subcommand)]
    Bucket(bucket::Bucket),
    /// Sign in to a server by confirming a code in a browser
    Login(account::Login),
    /// Sign out
    Logout(account::Logout),
    /// Show who is signed in and what they may do
    Me(account::Me),
    /// List the accounts that you signed in to, or forget a profile
    Profiles(account::List),
    /// Load a school network from OneRoster CSV files
    Import(import::Import),
    /// Write all records as OneRoster CSV files
    Export(export::Export),
    /// Create, list, rotate and revoke API clients
    #[command(subcommand)]
    Client(client::Client),
    /// List, rotate and publish the keys that sign credentials
    #[command(subcommand)]
    Keys(keys::Keys),
    /// Manage the database, accounts and API keys of a server
    #[command(subcommand)]
    Admin(admin::Admin),
    /// Recompute facts; list and replay rejected event envelopes
    #[command(subcommand)]
    Events(events::Events),
    /// Check, score, import and export QTI items, tests and stimuli
    #[command(subcommand)]
    Qti(qti::Qti),
    /// Import, export, list and publish frameworks of academic standards
    #[command(subcommand)]
    Standards(standards::Standards),
    /// Show and change the policies of lessons
    #[command(subcommand)]
    Lesson(lesson::Lesson),
    /// Set up, verify, show and remove a project's courses
    #[command(subcommand, visible_alias = "timeback")]
    Lms(lms::Lms),
    /// Verify badges and learner records
    #[command(subcommand)]
    Badge(badge::Badge),
    /// Print the events of a running server as they arrive
    Listen(listen::Listen),
    /// Send test events to a running server, valid or invalid
    Trigger(trigger::Trigger),
    /// Generate demo data
    #[command(subcommand)]
    Demo(demo::Demo),
    /// Check this machine, and explain how to fix any problem
    Doctor(doctor::Doctor),
    /// Collect what a bug report needs, without secrets
    #[command(subcommand)]
    Debug(debug::Debug),
    /// Print the settings in force, or a JSON Schema for editors
    Config(config::Config),
    /// Print the OpenAPI document of the server's API
    #[command(name = "openapi")]
    OpenApi(openapi::OpenApi),
    /// Print the completion script for a shell
    Completions(completions::Completions),
    /// Write the manual pages of all commands, for packages
    #[command(hide = true)]
    Man(man::Man),
}
