//! What can be typed. Each command's own arguments stand beside the command.

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    account, admin, badge, bucket, client, completions, config, db, demo, deploy, deployments, dev,
    doctor, events, export, import, keys, lesson, listen, lms, openapi, qti, sandbox, secrets,
    serve, standards, trigger,
};

/// A learning platform in one binary: rosters, gradebook, resources, tokens.
#[derive(Parser)]
#[command(version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// How much is printed, and in which form.
#[derive(Args)]
pub(crate) struct Output {
    /// Print errors and the answer alone
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Print each step
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(crate) verbose: bool,
    /// Print the answer as one JSON value
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the server
    Serve(serve::Serve),
    /// Run the server for an app under development: a demo user, demo data, any token
    Sandbox(Box<sandbox::Run>),
    /// Serve a project's backend from its sources, again with every change, beside a sandbox
    Dev(Box<dev::Dev>),
    /// Publish a project: its build, backend and secrets, in one step that is whole or not done
    Deploy(Box<deploy::Deploy>),
    /// List the versions of a deployed project, go back to one, promote one
    #[command(subcommand)]
    Deployments(deployments::Deployments),
    /// Push and list the secrets of a deployed project
    #[command(subcommand)]
    Secrets(secrets::Secrets),
    /// Show and make changes of a project's database schema; back it up
    #[command(subcommand)]
    Db(db::Db),
    /// List, get, put and delete files of a project's bucket
    #[command(subcommand)]
    Bucket(bucket::Bucket),
    /// Sign in to a server by confirming a code in a browser
    Login(account::Login),
    /// Sign out
    Logout(account::Logout),
    /// Say who is signed in, and what they may do
    Me(account::Me),
    /// List or forget the accounts that you signed in to
    Profiles(account::List),
    /// Load a school network from OneRoster CSV files
    Import(import::Import),
    /// Write all records as OneRoster CSV files
    Export(export::Export),
    /// Create, list, rotate and revoke API clients
    #[command(subcommand)]
    Client(client::Client),
    /// See, rotate and publish the keys that sign credentials
    #[command(subcommand)]
    Keys(keys::Keys),
    /// Look after the database, accounts of people and API keys
    #[command(subcommand)]
    Admin(admin::Admin),
    /// Work on the log of events and what follows from it
    #[command(subcommand)]
    Events(events::Events),
    /// Check, score, explain QTI items, tests and stimuli; store them and write them back
    #[command(subcommand)]
    Qti(qti::Qti),
    /// Import, export, list and publish frameworks of academic standards
    #[command(subcommand)]
    Standards(standards::Standards),
    /// See and change how adaptive lessons work
    #[command(subcommand)]
    Lesson(lesson::Lesson),
    /// Set up, verify, show and remove what a project teaches
    #[command(subcommand, visible_alias = "timeback")]
    Lms(lms::Lms),
    /// Verify badges and learner records
    #[command(subcommand)]
    Badge(badge::Badge),
    /// Print events of a running server as they arrive
    Listen(listen::Listen),
    /// Send events of one kind to a running server, good ones or deliberately bad ones
    Trigger(trigger::Trigger),
    /// Make demo data
    #[command(subcommand)]
    Demo(demo::Demo),
    /// Look whether clock, disk, port, database, time zones and workerd are as the server needs them
    Doctor(doctor::Doctor),
    /// Print the settings in force and where each came from
    Config(config::Config),
    /// Print the OpenAPI document of the API
    #[command(name = "openapi")]
    OpenApi(openapi::OpenApi),
    /// Print the completions of a shell
    Completions(completions::Completions),
}
