//! `cargo xtask pack`: the packages by which people install Lyceum without a Rust toolchain.
//!
//! The release tarball, the Debian package and the container hold the same files, which [`FileTree`]
//! lays out once. The npm tarballs are made by `web/pack.js`.

mod files;
mod licences;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::build;
use crate::run::{command, lyceum, root, run, target};
use files::FileTree;

/// Bytes of the npm package of the program at most. App developers download it before anything else.
const NPM_PROGRAM_GOAL_BYTES: u64 = 15_000_000;

/// The packages to make, and their sources.
pub(crate) struct Options {
    formats: Vec<Format>,
    /// The program to pack; without it the release build is made, for npm the build of the profile `small`.
    program: Option<PathBuf>,
    folder: PathBuf,
    /// Compresses packages little or not at all, because compression takes most of the time. For tests.
    is_quick: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Format {
    /// npm tarballs of the program, the SDK, the Vite plugin and `create-lyceum`.
    Npm,
    /// A `.tar.gz` for any Linux.
    Tarball,
    /// A package for Debian and Ubuntu.
    Deb,
    /// A folder with a container file and what it copies.
    Container,
}

const FORMATS: [(&str, Format); 4] = [
    ("npm", Format::Npm),
    ("tarball", Format::Tarball),
    ("deb", Format::Deb),
    ("container", Format::Container),
];

impl Options {
    /// Reads the arguments. Errors: an unknown format or flag, a flag without its value.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            formats: Vec::new(),
            program: None,
            folder: target().join("packages"),
            is_quick: false,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--program" => options.program = Some(std::path::absolute(value()?)?),
                "--out" => options.folder = std::path::absolute(value()?)?,
                "--quick" => options.is_quick = true,
                name => match FORMATS.iter().find(|(known, _)| *known == name) {
                    Some((_, format)) => options.formats.push(*format),
                    None => bail!(
                        "cannot pack '{name}'; choose among npm, tarball, deb and container, or \
                         leave them out to pack all; flags are --program FILE, --out FOLDER and --quick"
                    ),
                },
            }
        }
        if options.formats.is_empty() {
            options.formats = FORMATS.iter().map(|(_, format)| *format).collect();
        }
        Ok(options)
    }
}

/// Makes the packages.
pub(crate) fn pack(options: &Options) -> Result<()> {
    let out = &options.folder;
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    if options.formats.contains(&Format::Npm) {
        npm(options)?;
    }
    if options.formats.iter().all(|format| *format == Format::Npm) {
        return Ok(());
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => {
            build::all()?;
            lyceum()
        }
    };
    build::installed("tests/hosting").context("the runtime of backends was not installed")?;
    let tree = FileTree::create(&program, &out.join("tree"))?;
    for format in &options.formats {
        match format {
            Format::Npm => {}
            Format::Tarball => tarball(&tree, options)?,
            Format::Deb => debian_package(&tree, out)?,
            Format::Container => container(&tree, &out.join("container"))?,
        }
    }
    fs::remove_dir_all(&tree.root).context("cannot remove the files from which packages were made")
}

/// Packs the npm packages, and warns if the one of the program is larger than its goal.
fn npm(options: &Options) -> Result<()> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build::small()?,
    };
    build::packages()?;
    let folder = options.folder.join("npm");
    let mut pack =
        command("node", ["web/pack.js".as_ref(), program.as_os_str(), folder.as_os_str()]);
    pack.args(options.is_quick.then_some("--quick"));
    run(pack)?;
    let size = size_of_npm_program(&folder)?;
    let (whole, tenth) = (size / 1_000_000, size / 100_000 % 10);
    println!("the npm package of the program has {whole}.{tenth} MB");
    // Other builds may be as large as they are.
    if options.program.is_none() && size > NPM_PROGRAM_GOAL_BYTES {
        eprintln!(
            "warning: the npm package of the program has {size} bytes; the goal is {NPM_PROGRAM_GOAL_BYTES} bytes. \
             Look for new dependencies, embedded files and symbols"
        );
    }
    Ok(())
}

/// Bytes of the newest package of the program in a folder.
fn size_of_npm_program(folder: &Path) -> Result<u64> {
    let files =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let packages = files.flatten().filter(|file| {
        let name = file.file_name();
        let name = name.to_string_lossy();
        name.starts_with("lyceum-cli-") && name.ends_with(".tgz")
    });
    let packages = packages.filter_map(|file| file.metadata().ok());
    let newest = packages.max_by_key(|file| file.modified().ok());
    Ok(newest.context("no package of the program was made")?.len())
}

/// Packs the tree below one folder with the version in its name.
fn tarball(tree: &FileTree, options: &Options) -> Result<()> {
    let name = format!("lyceum-{}-linux-{}", tree.version, npm_architecture()?);
    let file = options.folder.join(format!("{name}.tar.gz"));
    let mut tar = command("tar", ["--create", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--use-compress-program", if options.is_quick { "gzip -1" } else { "gzip" }]);
    // `usr/bin/lyceum` and `etc` stand in the tarball as `NAME/bin/lyceum` and `NAME/etc`.
    tar.arg(format!("--transform=s,^\\./usr/,{name}/,;s,^\\./,{name}/,"));
    tar.arg("--file").arg(&file).arg("--directory").arg(&tree.root);
    tar.args(["./usr/bin", "./usr/lib", "./usr/share", "./etc"]);
    run(tar)?;
    println!("made {}", file.display());
    Ok(())
}

fn debian_package(tree: &FileTree, out: &Path) -> Result<()> {
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let scripts = tree.root.join("DEBIAN");
    fs::create_dir_all(&scripts)?;
    for script in ["postinst", "prerm", "postrm"] {
        fs::copy(root().join("packaging/debian").join(script), scripts.join(script))?;
    }
    fs::write(scripts.join("conffiles"), "/etc/lyceum/lyceum.toml\n")?;
    fs::write(
        scripts.join("control"),
        format!(
            "Package: lyceum\n\
             Version: {}\n\
             Architecture: {architecture}\n\
             Maintainer: The Lyceum developers <lyceum@localhost>\n\
             Section: education\n\
             Priority: optional\n\
             Depends: libc6 (>= 2.36), libgcc-s1, passwd, ca-certificates\n\
             Description: education platform in one binary\n \
             Speaks OneRoster, QTI, Caliper, Open Badges, CLR and CASE, teaches adaptive lessons and\n \
             hosts learning apps. This package runs it as a service of systemd.\n",
            tree.version
        ),
    )?;
    let file = out.join(format!("lyceum_{}_{architecture}.deb", tree.version));
    let mut dpkg = command("dpkg-deb", ["--build", "--root-owner-group", "-Zzstd"]);
    dpkg.arg(&tree.root).arg(&file);
    run(dpkg).context("Debian packages are made by dpkg-deb, from Debian's package dpkg")?;
    Ok(fs::remove_dir_all(&scripts)?)
}

/// Lays out what `podman build` or `docker build` needs.
fn container(tree: &FileTree, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    fs::copy(root().join("packaging/Containerfile"), folder.join("Containerfile"))?;
    let mut copy = command("cp", ["--archive"]);
    copy.arg(tree.root.join("usr")).arg(folder.join("usr"));
    run(copy)?;
    println!(
        "made {}; build it with `podman build --tag lyceum` and that folder",
        folder.display()
    );
    Ok(())
}

/// How npm and the name of the tarball call this machine's processor.
fn npm_architecture() -> Result<&'static str> {
    match std::env::consts::ARCH {
        "x86_64" => Ok("x64"),
        "aarch64" => Ok("arm64"),
        other => bail!("packages are made on x86_64 and aarch64 only; this machine is {other}"),
    }
}
