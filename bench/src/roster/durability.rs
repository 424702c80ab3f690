//! W3: acknowledged writes survive `kill -9`, and no answer leaves before a sync.

use anyhow::Result;
use lyceum_testserver::durability::Api;

use super::Options;
use super::networks::Networks;
use crate::goals::Finding;
use crate::lyceum::LyceumProgram;
use crate::server::{BOTH_CORES, Server};

/// Times that the server is killed.
const KILLS: usize = 5;
/// Creates that are acknowledged over all kills.
const ACKNOWLEDGED: usize = 100_000;
/// The same in a quick run.
const ACKNOWLEDGED_QUICK: usize = 1_000;
/// Creates that are traced.
const TRACED: usize = 200;

/// Measures W3 on an empty database.
pub(super) fn measure(options: &Options, networks: &Networks) -> Result<Vec<Finding>> {
    let scratch = tempfile::tempdir_in(&options.run.folder)?;
    let lyceum = LyceumProgram { data: scratch.path().to_owned(), ..networks.small.lyceum.clone() };
    let enough = if options.run.quick { ACKNOWLEDGED_QUICK } else { ACKNOWLEDGED };
    let (mut acknowledged, mut lost) = (0, 0);
    for round in 0..KILLS {
        let mut server = lyceum.serve(BOTH_CORES)?;
        let ids = api(&server)?.write_and_kill(&format!("kill-{round}"), enough / KILLS, || {
            server.process.kill().expect("the server can be killed");
        });
        acknowledged += ids.len();
        lost += api(&lyceum.serve(BOTH_CORES)?)?.lost(&ids).len();
    }
    let detail = format!("{acknowledged} acknowledged over {KILLS} kills");
    let mut findings = vec![Finding::new("W3.lost", count(lost)?, detail)];
    let server = lyceum.serve(BOTH_CORES)?;
    if let Some(trace) = api(&server)?.trace(server.process.id(), "trace", TRACED) {
        let detail = format!("of {} creates that strace saw answered", trace.answered);
        findings.push(Finding::new("W3.unsynced", count(trace.unsynced)?, detail));
    } else {
        println!("W3.unsynced is left out: strace is missing or may not attach");
    }
    Ok(findings)
}

fn api(server: &Server) -> Result<Api> {
    Ok(Api::new(&format!("http://{}", server.address), server.token()?))
}

fn count(number: usize) -> Result<f64> {
    Ok(u32::try_from(number)?.into())
}
