//! The same network at two sizes, on both sides. Filling Lyceum is itself a goal (W2, S3.import).

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Options;
use crate::data::{self, ENROLLMENTS_PER_USER};
use crate::goals::Finding;
use crate::lyceum::{LyceumProgram, Run};
use crate::options::RunOptions;
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

/// Creates the missing networks, or all of them, and returns the findings of the imports.
pub(super) fn prepare(options: &Options) -> Result<(Networks, Vec<Finding>)> {
    let [small, large] = options.sizes();
    let (small, small_import) = network(&options.run, small, options.needs_anchor(), options.keep)?;
    let (large, large_import) = network(&options.run, large, options.needs_anchor(), options.keep)?;
    let mut findings = Vec::new();
    if let (Some(small_import), Some(large_import)) = (small_import, large_import) {
        findings.push(speed(&small, small_import)?);
        findings.push(memory(small_import, large_import));
    }
    Ok((Networks { small, large }, findings))
}

/// Makes one size. The import is `None` when an earlier one was kept.
pub(super) fn network(
    run: &RunOptions,
    users: u64,
    needs_anchor: bool,
    keeps: bool,
) -> Result<(Network, Option<Run>)> {
    let folder = run.folder.canonicalize()?;
    let anchor = folder.join(format!("anchor-{users}.db"));
    if needs_anchor && !anchor.exists() {
        println!("filling the anchor with {users} students");
        anchor::fill(&anchor, users)?;
    }
    let lyceum = LyceumProgram {
        program: run.lyceum.clone(),
        data: folder.join(format!("ours-{users}")),
        database: None,
    };
    if keeps && lyceum.file().exists() {
        return Ok((Network { users, anchor, lyceum }, None));
    }
    if lyceum.data.exists() {
        std::fs::remove_dir_all(&lyceum.data)?;
    }
    println!("importing {users} students");
    let import = lyceum.import(&csv(&folder, users)?)?;
    Ok((Network { users, anchor, lyceum }, Some(import)))
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
fn speed(network: &Network, import: Run) -> Result<Finding> {
    let rows = (network.users * (1 + ENROLLMENTS_PER_USER)) as f64;
    let raw = limits::same_index_insert(&network.lyceum.file())?;
    let (lyceum, raw) = (rows / import.time.as_secs_f64(), rows / raw.as_secs_f64());
    Ok(Finding::new(
        "W2",
        lyceum / raw,
        format!("{lyceum:.0} users and enrollments/s against {raw:.0} raw"),
    ))
}

/// S3 of the import.
fn memory(small: Run, large: Run) -> Finding {
    let detail = format!("{:.1} MiB small, {:.1} MiB large", small.peak_mib, large.peak_mib);
    Finding::new("S3.import", large.peak_mib / small.peak_mib, detail)
}
