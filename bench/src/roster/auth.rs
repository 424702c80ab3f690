//! P4.auth: what the bearer token costs. One handler that does nothing, behind an open route and
//! behind a guarded one; the difference in CPU is the token's.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result};
use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_server::answer::Answer;
use lyceum_server::render::Rendering;
use lyceum_server::route::{Access, Area, get};
use lyceum_store::StoreLocation;
use lyceum_testserver::server::{Setup, TestServer};
use serde::{Deserialize, Serialize};

use super::{Options, READ_CLIENTS};
use crate::goals::Finding;
use crate::load::Target;
use crate::pairs::{Pairs, Spread};
use crate::process::Process;
use crate::server::{SERVER_CORE, Server};

/// Where the probe listens and what opens its guarded route.
#[derive(Serialize, Deserialize)]
struct Probe {
    address: String,
    token: String,
}

/// Serves the two routes from `folder` until killed; prints one line of JSON when ready.
pub(crate) fn serve(folder: &Path) -> Result<()> {
    let setup = Setup { areas: || vec![area()], ..Setup::default() };
    let server = TestServer::start_as(&StoreLocation::Sqlite(folder.join("probe.db")), setup);
    let token = server.token(&[Scope::RosterRead], PayloadDialect::Platform);
    let address = server.address().replace("http://", "");
    println!("{}", serde_json::to_string(&Probe { address, token })?);
    loop {
        std::thread::park();
    }
}

fn area() -> Area {
    Area {
        name: "probe",
        base: "/probe",
        rendering: Rendering::Imsx,
        description: "For measurements.",
        routes: vec![
            get("/guarded", Scope::RosterRead, async |_| Ok(Answer::json("{}"))),
            get("/open", Access::Public, async |_| Ok(Answer::json("{}"))),
        ],
    }
}

/// Measures P4.auth.
pub(super) fn measure(options: &Options) -> Result<Finding> {
    let scratch = tempfile::tempdir_in(&options.run.folder)?;
    let start = Instant::now();
    let mut process = Process::start(SERVER_CORE, std::env::current_exe()?, |command| {
        command.arg("probe").arg(scratch.path()).stdout(Stdio::piped());
    })?;
    let line = process.first_line().context("the probe tells where it listens")?;
    let Probe { address, token } = serde_json::from_str(&line)?;
    let mut server = Server::wait(process, address, "/probe/open", start)?;
    server.headers = vec![format!("Authorization: Bearer {token}")];
    let load =
        |path: &str| server.load(Target::Fixed(path.into()), READ_CLIENTS, options.run.time());
    let pairs =
        Pairs::measure(options.run.rounds(), || load("/probe/open"), || load("/probe/guarded"))?;
    let differences =
        pairs.ours.iter().zip(&pairs.other).map(|(lyceum, other)| lyceum.cpu_us - other.cpu_us);
    let (guarded, open) = (pairs.ours(|s| s.cpu_us).median, pairs.other(|s| s.cpu_us).median);
    let detail = format!("{guarded:.1} µs CPU guarded, {open:.1} µs open");
    Ok(Finding::new("P4.auth", Spread::of(differences), detail))
}
