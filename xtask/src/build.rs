//! `cargo xtask build`: the console's assets and the release binary.

use anyhow::{Context, Result};

use crate::run::{cargo, command, lyceum, root, run};

/// Builds the assets, then the binary that embeds them.
pub(crate) fn all() -> Result<()> {
    assets()?;
    release()?;
    println!("made {}", lyceum().display());
    Ok(())
}

/// Builds the release binary.
pub(crate) fn release() -> Result<()> {
    run(cargo(["build", "--release", "--package", "lyceum"]))
}

/// Bundles the console's pages, where this version has a console.
fn assets() -> Result<()> {
    let folder = root().join("web/console");
    if !folder.join("package.json").exists() {
        return Ok(());
    }
    for arguments in [&["ci"][..], &["run", "build"]] {
        let mut npm = command("npm", arguments);
        npm.current_dir(&folder);
        run(npm).context("the console's assets were not built")?;
    }
    Ok(())
}
