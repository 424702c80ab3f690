//! The commands of the program, a file for each.

pub(crate) mod account;
pub(crate) mod admin;
pub(crate) mod badge;
pub(crate) mod bucket;
pub(crate) mod client;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod create;
pub(crate) mod db;
pub(crate) mod debug;
pub(crate) mod demo;
pub(crate) mod deploy;
pub(crate) mod deployments;
pub(crate) mod dev;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod keys;
pub(crate) mod kv;
pub(crate) mod lesson;
pub(crate) mod listen;
pub(crate) mod lms;
pub(crate) mod man;
pub(crate) mod openapi;
pub(crate) mod projects;
pub(crate) mod qti;
pub(crate) mod reach;
mod rebuild;
pub(crate) mod rejected;
pub(crate) mod sandbox;
pub(crate) mod secrets;
pub(crate) mod serve;
pub(crate) mod standards;
pub(crate) mod trigger;

use crate::cli::Command;
use crate::failure::Result;
use crate::printer::Printer;

pub(crate) fn run(command: Command, printer: &Printer) -> Result {
    match command {
        Command::Serve(serve) => serve.run(printer),
        Command::Sandbox(sandbox) => sandbox.run(printer),
        Command::Create(create) => create.run(printer),
        Command::Init(init) => init.run(printer),
        Command::Dev(dev) => dev.run(printer),
        Command::Client(client) => client.run(printer),
        Command::Deploy(deploy) => deploy.run(printer),
        Command::Deployments(deployments) => deployments.run(printer),
        Command::Projects(projects) => projects.run(printer),
        Command::Logs(logs) => logs.run(printer),
        Command::Secrets(secrets) => secrets.run(printer),
        Command::Import(import) => import.run(printer),
        Command::Export(export) => export.run(printer),
        Command::Keys(keys) => keys.run(printer),
        Command::Admin(admin) => admin.run(printer),
        Command::Events(events) => events.run(printer),
        Command::Qti(qti) => qti.run(printer),
        Command::Standards(standards) => standards.run(printer),
        Command::Lesson(lesson) => lesson.run(printer),
        Command::Lms(lms) => lms.run(printer),
        Command::Db(db) => db.run(printer),
        Command::Login(login) => login.run(printer),
        Command::Logout(logout) => logout.run(printer),
        Command::Me(me) => me.run(printer),
        Command::Profiles(profiles) => profiles.run(printer),
        Command::Badge(badge) => badge.run(printer),
        Command::Kv(kv) => kv.run(printer),
        Command::Bucket(bucket) => bucket.run(printer),
        Command::Listen(listen) => listen.run(printer),
        Command::Trigger(trigger) => trigger.run(printer),
        Command::Demo(demo) => demo.run(printer),
        Command::Doctor(doctor) => doctor.run(printer),
        Command::Debug(debug) => debug.run(printer),
        Command::Config(config) => config.run(printer),
        Command::OpenApi(openapi) => openapi.run(printer),
        Command::Man(man) => man.run(),
        Command::Completions(completions) => {
            completions.run(printer);
            Ok(())
        }
    }
}
