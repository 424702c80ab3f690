//! `cargo xtask demo`: a school network on this machine, from nothing, in one command.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, ToSocketAddrs};
use std::os::unix::process::{CommandExt, parent_id};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::run::{command, minutes, not_started, output, root, run, show};
use crate::{build, http};

/// How long the server may take to its first answer.
const START_MAX: Duration = Duration::from_secs(30);
/// The administrator of the demo.
const EMAIL: &str = "demo@example.org";

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
            if !["--listen", "--students"].contains(&flag.as_str()) {
                bail!("unknown flag '{flag}'; use --listen HOST:PORT or --students COUNT");
            }
            let value = words.next().with_context(|| format!("{flag} needs a value"))?;
            if flag == "--listen" {
                options.listen.clone_from(value);
            } else {
                options.students = value
                    .parse()
                    .with_context(|| format!("--students must be a whole number: got '{value}'"))?;
            }
        }
        Ok(options)
    }
}

/// Builds the server, generates its data unless they exist, and becomes the server.
pub(crate) fn demo(options: &Options) -> Result<()> {
    require_free(&options.listen)?;
    let mut steps = Steps { since: Instant::now(), number: 0 };
    steps.take("prepare the console's pages with npm", "10 s", build::assets)?;
    let program = steps.take("compile the server with cargo", "5 min on two cores", build::demo)?;
    let students = options.students;
    let folder = root().join(format!(".lyceum/demo/{students}-students"));
    steps.take(&format!("create a school network of {students} students"), "5 s", || {
        if folder.exists() {
            println!("it exists in {}; remove that folder to start over", folder.display());
            return Ok(());
        }
        create_network(&program, &folder, students)
    })?;
    steps.take("start the server", "1 s", || {
        let greeting = greeting(&program, &folder, options)?;
        serve(&program, &folder, &options.listen, &greeting)
    })
}

/// The steps so far. A step that an earlier run completed takes about a second.
struct Steps {
    since: Instant,
    number: usize,
}

impl Steps {
    const COUNT: usize = 4;

    /// Takes a step after it printed what happens and how long that usually takes the first time.
    fn take<T>(
        &mut self,
        what: &str,
        usual_time: &str,
        step: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.number += 1;
        println!("\n[{}/{}] {what} (the first time about {usual_time})", self.number, Self::COUNT);
        let since = Instant::now();
        let outcome = step()?;
        println!("done in {}, {} in all", minutes(since.elapsed()), minutes(self.since.elapsed()));
        Ok(outcome)
    }
}

/// A name such as localhost stands for several addresses; none of them may be taken.
fn require_free(listen: &str) -> Result<()> {
    let addresses = listen
        .to_socket_addrs()
        .with_context(|| format!("--listen '{listen}' is not HOST:PORT of this machine"))?;
    for address in addresses {
        match TcpListener::bind(address) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => bail!(
                "another program uses {address}, perhaps a demo that still runs; stop it, \
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

/// Writes the data under another name first: an interrupted run leaves nothing incomplete behind.
fn create_network(program: &Path, folder: &Path, students: u32) -> Result<()> {
    let unfinished = folder.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    fs::create_dir_all(&unfinished)?;
    let files = unfinished.join("oneroster.zip");
    let mut generate =
        command(program, ["demo", "generate", "--complete", "--seed", "1", "--students"]);
    generate.arg(students.to_string()).arg("--out").arg(&files);
    run(generate)?;
    let data = data_folder(&unfinished);
    let mut import = command(program, ["import"]);
    import.arg(&files).arg("--data").arg(&data);
    run(import)?;
    let create = |arguments: &[&str]| {
        let mut create = command(program, ["admin"]);
        create.args(arguments).args(["--role", "administrator", "--quiet", "--data"]).arg(&data);
        show(&create);
        create
    };
    let key_file = key_file(&unfinished);
    fs::write(&key_file, output(create(&["key", "create", "demo"]))?)?;
    // With a password, the server does not ask for a first administrator.
    let mut user = create(&["user", "create", EMAIL, "--name", "Demo", "--password-stdin"]);
    user.stdin(fs::File::open(key_file)?);
    output(user)?;
    fs::rename(&unfinished, folder)?;
    Ok(())
}

fn data_folder(folder: &Path) -> PathBuf {
    folder.join("data")
}

fn key_file(folder: &Path) -> PathBuf {
    folder.join("api-key")
}

/// The greeting to a developer, on one screen. The link to the console is new each time.
fn greeting(program: &Path, folder: &Path, options: &Options) -> Result<String> {
    let Options { listen, students } = options;
    let mut link = command(program, ["demo", "link", "--quiet", "--data"]);
    link.arg(data_folder(folder));
    let link = output(link)?;
    let link = link.trim().rsplit('=').next().unwrap_or_default();
    let key = fs::read_to_string(key_file(folder)).with_context(|| {
        format!("{} has no API key; remove that folder to start over", folder.display())
    })?;
    let key = key.trim();
    Ok(format!(
        "
  Lyceum serves a school network of {students} students. Stop it with Ctrl-C.

  Console: this link signs in once, within 10 minutes. Later, sign in as
  {EMAIL} with the key below as the password.
http://{listen}/console/enter?link={link}

  API: read three schools with a key
curl --oauth2-bearer {key} \\
  'http://{listen}/ims/oneroster/rostering/v1p2/schools?limit=3'

  Try next
    see which students need help     http://{listen}/console
    follow a guide                   http://{listen}/docs
    call any operation of the API    http://{listen}/docs/api
"
    ))
}

/// Replaces this process by the server, so that a signal to the command reaches the server. A
/// child process waits for its first answer and prints the greeting.
fn serve(program: &Path, folder: &Path, listen: &str, greeting: &str) -> Result<()> {
    let mut announce = command(std::env::current_exe()?, ["demo-announce", listen])
        .stdin(Stdio::piped())
        .spawn()
        .context("the program that waits for the server does not start")?;
    announce.stdin.take().context("its input is piped")?.write_all(greeting.as_bytes())?;
    let mut server = command(program, ["serve", "--listen", listen, "--data"]);
    server.arg(data_folder(folder)).args(["--public-url", &format!("http://{listen}")]);
    show(&server);
    let error = server.exec();
    Err(not_started(&server, &error))
}

/// Waits until the server of the parent process is ready, then prints the text on standard input.
pub(crate) fn announce(arguments: &[String]) -> Result<()> {
    let [listen] = arguments else {
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
    let mut greeting = String::new();
    std::io::stdin().read_to_string(&mut greeting)?;
    println!("{greeting}");
    Ok(())
}
