//! `cargo xtask demo`: a school network on this machine, from nothing, in one command.

use std::io::ErrorKind;
use std::net::{TcpListener, ToSocketAddrs};
use std::os::unix::process::{CommandExt, parent_id};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::run::{command, lyceum, not_started, output, root, run, show};
use crate::{build, http};

/// How long the server may take to its first answer.
const START_MAX: Duration = Duration::from_secs(30);

/// Where to serve, and how large a network.
pub(crate) struct Options {
    listen: String,
    students: u32,
}

impl Options {
    /// Reads the flags. Errors: an unknown flag, a flag without its value.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self { listen: "localhost:4321".into(), students: 2000 };
        let mut words = arguments.iter();
        while let Some(flag) = words.next() {
            let value = words.next().with_context(|| format!("{flag} needs a value"))?;
            match flag.as_str() {
                "--listen" => options.listen.clone_from(value),
                "--students" => {
                    options.students = value
                        .parse()
                        .with_context(|| format!("--students '{value}' is not a whole number"))?;
                }
                _ => bail!("there is no flag '{flag}'; known are --listen and --students"),
            }
        }
        Ok(options)
    }
}

/// Builds the server, makes its data where they are missing, and becomes the server.
pub(crate) fn demo(options: &Options) -> Result<()> {
    require_free(&options.listen)?;
    build::all()?;
    let folder = root().join(format!(".lyceum/demo/{}-students", options.students));
    if folder.exists() {
        println!("using the network in {}; remove that folder to start over", folder.display());
    } else {
        make_network(&folder, options.students)?;
    }
    serve(&folder, &options.listen)
}

/// A name such as localhost stands for several addresses; none of them may be taken.
fn require_free(listen: &str) -> Result<()> {
    let addresses = listen
        .to_socket_addrs()
        .with_context(|| format!("--listen '{listen}' is not HOST:PORT of this machine"))?;
    for address in addresses {
        match TcpListener::bind(address) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => bail!(
                "{address} is taken by another program, perhaps a demo that still runs; stop it, \
                 or choose another port with `cargo xtask demo --listen localhost:4322`"
            ),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                bail!(
                    "the system does not allow you to use {address}; choose a port above 1023 with --listen"
                )
            }
            // This machine may lack the address family; that does not matter.
            _ => {}
        }
    }
    Ok(())
}

/// Makes the data under another name first: an interrupted run leaves nothing half-made behind.
fn make_network(folder: &Path, students: u32) -> Result<()> {
    let unfinished = folder.with_extension("unfinished");
    if unfinished.exists() {
        std::fs::remove_dir_all(&unfinished)?;
    }
    std::fs::create_dir_all(&unfinished)?;
    let data = unfinished.join("data");
    let files = unfinished.join("oneroster.zip");
    let mut generate =
        command(lyceum(), ["demo", "generate", "--complete", "--seed", "1", "--students"]);
    generate.arg(students.to_string()).arg("--out").arg(&files);
    run(generate)?;
    let mut import = command(lyceum(), ["import"]);
    import.arg(&files).arg("--data").arg(&data);
    run(import)?;
    let mut create = command(lyceum(), ["client", "create", "demo", "--json", "--data"]);
    create.arg(&data);
    show(&create);
    std::fs::write(key_file(&unfinished), output(create)?)?;
    std::fs::rename(&unfinished, folder)?;
    Ok(())
}

fn key_file(folder: &Path) -> PathBuf {
    folder.join("client.json")
}

/// Replaces this process by the server, so that a signal to the command reaches the server. A
/// child process waits for its first answer and prints what a developer needs.
fn serve(folder: &Path, listen: &str) -> Result<()> {
    command(std::env::current_exe()?, ["demo-announce", listen])
        .arg(key_file(folder))
        .spawn()
        .context("the announcement does not start")?;
    let mut server = command(lyceum(), ["serve", "--listen", listen, "--data"]);
    server.arg(folder.join("data")).args(["--public-url", &format!("http://{listen}")]);
    show(&server);
    let error = server.exec();
    Err(not_started(&server, &error))
}

/// Waits until the server of the parent process is ready, then prints addresses and key.
pub(crate) fn announce(arguments: &[String]) -> Result<()> {
    let [listen, key_file] = arguments else {
        bail!("demo-announce is a step of `cargo xtask demo`");
    };
    let server = parent_id();
    let since = Instant::now();
    while http::get(listen, "/ready").is_err() {
        if parent_id() != server {
            return Ok(()); // The server has ended and said why.
        }
        if since.elapsed() > START_MAX {
            bail!("the server gave no answer at http://{listen}/ready in {START_MAX:?}");
        }
        sleep(Duration::from_millis(20));
    }
    let key: Value = serde_json::from_str(&std::fs::read_to_string(key_file)?)?;
    let (id, secret) = (text(&key, "id")?, text(&key, "secret")?);
    let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
    let answer: Value = serde_json::from_str(&http::post_form(listen, "/oauth2/token", &form)?)?;
    print(listen, id, secret, text(&answer, "access_token")?);
    Ok(())
}

fn text<'a>(value: &'a Value, member: &str) -> Result<&'a str> {
    value[member].as_str().with_context(|| format!("no '{member}' in {value}"))
}

fn print(listen: &str, id: &str, secret: &str, token: &str) {
    println!(
        "
  A school network is served. Stop it with Ctrl-C.

  Console       http://{listen}
  API           http://{listen}/ims/oneroster/rostering/v1p2
  Docs          http://{listen}/docs
  OpenAPI       http://{listen}/openapi.json
  Client id     {id}
  Secret        {secret}

  Try it (the token is good for an hour):

curl -H 'Authorization: Bearer {token}' 'http://{listen}/ims/oneroster/rostering/v1p2/schools?limit=3'

  A new token:

curl -u '{id}:{secret}' -d grant_type=client_credentials http://{listen}/oauth2/token
"
    );
}
