//! The same network at two sizes, on both sides. Filling Lyceum is itself a goal (W2).

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use super::Options;
use crate::data::{self, ENROLLMENTS_PER_USER};
use crate::goals::Finding;
use crate::lyceum::LyceumProgram;
use crate::{anchor, limits};

/// A network of one size.
pub(super) struct Network {
    pub(super) users: u64,
    pub(super) anchor: PathBuf,
    pub(super) lyceum: LyceumProgram,
}

/// Both sizes.
pub(super) struct Networks {
    pub(super) small: Network,
    pub(super) large: Network,
}

/// Creates the missing networks, or all of them, and measures W2 on a small one that was just imported.
pub(super) fn prepare(options: &Options) -> Result<(Networks, Option<Finding>)> {
    let [small, large] = options.sizes();
    let (small, import) = network(options, small)?;
    let (large, _) = network(options, large)?;
    let finding = import.map(|time| speed(&small, time)).transpose()?;
    Ok((Networks { small, large }, finding))
}

/// Makes one size, and returns the time of its import. It is `None` when an earlier one was kept.
fn network(options: &Options, users: u64) -> Result<(Network, Option<Duration>)> {
    let folder = options.run.folder.canonicalize()?;
    let anchor = folder.join(format!("anchor-{users}.db"));
    if !anchor.exists() {
        println!("filling the anchor with {users} students");
        anchor::fill(&anchor, users)?;
    }
    let lyceum = LyceumProgram {
        program: options.run.lyceum.clone(),
        data: folder.join(format!("ours-{users}")),
        database: None,
    };
    if options.keep && lyceum.file().exists() {
        return Ok((Network { users, anchor, lyceum }, None));
    }
    if lyceum.data.exists() {
        std::fs::remove_dir_all(&lyceum.data)?;
    }
    println!("importing {users} students");
    let time = lyceum.import(&csv(&folder, users)?)?;
    Ok((Network { users, anchor, lyceum }, Some(time)))
}

/// The CSV files of the network, made once.
pub(crate) fn csv(folder: &Path, users: u64) -> Result<PathBuf> {
    let csv = folder.join(format!("csv-{users}"));
    if !csv.exists() {
        let unfinished = folder.join(format!("csv-{users}.part"));
        data::write_csv(&unfinished, users)?;
        std::fs::rename(&unfinished, &csv)?;
    }
    Ok(csv)
}

/// W2 on the network that was just imported.
#[expect(clippy::cast_precision_loss, reason = "row counts are far below 2^52")]
fn speed(network: &Network, import: Duration) -> Result<Finding> {
    let rows = (network.users * (1 + ENROLLMENTS_PER_USER)) as f64;
    let raw = limits::same_index_insert(&network.lyceum.file())?;
    let (lyceum, raw) = (rows / import.as_secs_f64(), rows / raw.as_secs_f64());
    Ok(Finding::new(
        "W2",
        lyceum / raw,
        format!("{lyceum:.0} users and enrollments/s against {raw:.0} raw"),
    ))
}
