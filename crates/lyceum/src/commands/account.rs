//! `lyceum login`, `logout`, `me` and `profiles`

use std::thread::sleep;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use lyceum_access::device::CLIENT_ID;
use lyceum_access::limits;
use lyceum_deploy::Credentials;
use serde_json::{Value, json};

use crate::failure::{Code, Failure, Result};
use crate::printer::{Printer, table};
use crate::profile::{self, AccountArgs, AccountEntry, Connection, Env, ProfileArgs, Profiles};
use crate::remote::{Answer, Remote, SignIn};

#[derive(Args)]
pub(crate) struct Login {
    /// Address of the server [default: the address of the last sign-in, or the variable `LYCEUM_URL`]
    #[arg(long, alias = "url", value_name = "URL", help_heading = "Server")]
    server: Option<String>,
    /// Environment that the server must have [default: the server's own]
    #[arg(long, value_name = "ENV", help_heading = "Server")]
    env: Option<Env>,
    #[command(flatten)]
    profile: ProfileArgs,
}

#[derive(Args)]
pub(crate) struct Logout {
    #[command(flatten)]
    account: AccountArgs,
}

#[derive(Args)]
pub(crate) struct Me {
    #[command(flatten)]
    account: AccountArgs,
}

#[derive(Args)]
pub(crate) struct List {
    #[command(subcommand)]
    command: Option<ListCommand>,
}

#[derive(Subcommand)]
enum ListCommand {
    /// List the accounts that you signed in to
    #[command(alias = "ls")]
    List,
    /// Forget all accounts of a profile. Their sessions on the servers stay valid until they expire
    #[command(alias = "rm")]
    Remove {
        /// Name of the profile
        name: String,
    },
}

impl Login {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        if self.env == Some(Env::Local) {
            printer.done("a sandbox needs no sign-in");
            return Ok(());
        }
        let mut profiles = Profiles::read()?;
        let url = self.url(&profiles)?;
        let hint = "start the server with `lyceum serve`, or set another address with --server";
        let env = environment(&SignIn::default().to(&url, None, hint)?, self.env)?;
        let at = |credentials| Connection { url: url.clone(), env, credentials };
        let remote = Remote::of(&at(Credentials::None))?;
        let authorization =
            remote.post_form("/oauth2/device_authorization", &[("client_id", CLIENT_ID)])?;
        if authorization.status != 200 {
            return Err(remote.refusal(&authorization));
        }
        let text = |name: &str| authorization.body[name].as_str().unwrap_or_default().to_owned();
        let (link, code) = (text("verification_uri_complete"), text("user_code"));
        printer.item(
            || format!("Open {link} in a browser and compare the code: {code}"),
            || json!({ "link": link, "code": code, "expiresIn": authorization.body["expires_in"] }),
        );
        let token = wait_for_token(&remote, &authorization.body)?;
        let remote = Remote::of(&at(Credentials::Key(token.clone())))?;
        let me = remote.get("/api/auth/me")?;
        if me.status != 200 {
            return Err(remote.refusal(&me));
        }
        let email = me.body["email"].as_str().unwrap_or_default().to_owned();
        profiles.set(&self.profile.name, env, AccountEntry { url, email: email.clone(), token });
        profiles.write()?;
        printer.closing(|| me.body.clone());
        let role = me.body["role"].as_str().unwrap_or_default();
        printer.done(&format!("signed in to {} as {email} ({role})", env.name()));
        Ok(())
    }

    fn url(&self, profiles: &Profiles) -> Result<String> {
        let env = self.env.unwrap_or(Env::Staging);
        let chosen = self.server.as_deref().map(|url| url.trim_end_matches('/').to_owned());
        let known = || profiles.find(&self.profile.name, env).map(|entry| entry.url.clone());
        chosen.or_else(profile::url_in_place).or_else(known).ok_or_else(|| {
            let message = format!("the address of the {} server is not known", env.name());
            Failure::new(Code::Usage, message).hint("set it with --server")
        })
    }
}

/// The server's environment. Errors: `Conflict` if it must be another one, before the person signs in.
fn environment(remote: &Remote, wanted: Option<Env>) -> Result<Env> {
    let metadata = remote.get("/.well-known/oauth-authorization-server")?;
    if metadata.status != 200 {
        return Err(remote.refusal(&metadata));
    }
    let own = metadata.body["lyceum_environment"].as_str().unwrap_or_default();
    let Ok(own) = Env::from_str(own, false) else {
        return Err(Failure::failed("there is no Lyceum server at this address"));
    };
    match wanted {
        Some(wanted) if wanted != own => {
            let (own, wanted) = (own.name(), wanted.name());
            let message = format!("the server's environment is '{own}', but --env is '{wanted}'");
            Err(Failure::new(Code::Conflict, message)
                .hint(format!("use --env {own}, or another address with --server")))
        }
        _ => Ok(own),
    }
}

/// Polls at the interval that the server allows until the person confirms or refuses (RFC 8628, 3.5).
fn wait_for_token(remote: &Remote, authorization: &Value) -> Result<String> {
    let code = authorization["device_code"].as_str().unwrap_or_default();
    let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("client_id", CLIENT_ID),
        ("device_code", code),
    ];
    let mut interval_s = authorization["interval"].as_u64().unwrap_or(5);
    loop {
        sleep(Duration::from_secs(interval_s));
        let answer = remote.post_form("/oauth2/token", &form)?;
        if let (200, Some(token)) = (answer.status, answer.body["access_token"].as_str()) {
            return Ok(token.to_owned());
        }
        match answer.body["error"].as_str() {
            Some("authorization_pending") => {}
            Some("slow_down") => interval_s += limits::DEVICE_SLOW_DOWN_S.unsigned_abs(),
            Some("access_denied") => {
                return Err(Failure::new(
                    Code::NotAllowed,
                    "the sign-in was refused in the browser",
                ));
            }
            Some("expired_token") => {
                let message = "the code expired before anybody confirmed it";
                return Err(
                    Failure::new(Code::NotAllowed, message).hint("run `lyceum login` again")
                );
            }
            _ => return Err(remote.refusal(&answer)),
        }
    }
}

impl Logout {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let AccountArgs { env, profile } = &self.account;
        let mut profiles = Profiles::read()?;
        let Some(entry) = profiles.remove(&profile.name, *env) else {
            let message = format!("you are not signed in to {}", env.name());
            return Err(Failure::new(Code::NotAllowed, message));
        };
        let credentials = Credentials::Key(entry.token);
        let connection = Connection { url: entry.url, env: *env, credentials };
        let ended = Remote::of(&connection)?.post("/api/auth/sign-out", "");
        profiles.write()?;
        // 401 means that the session has ended already.
        if !ended.is_ok_and(|answer| matches!(answer.status, 204 | 401)) {
            printer.warn(
                "the server did not confirm the sign-out; its session stays valid until it expires",
            );
        }
        printer.done(&format!("signed out of {}", env.name()));
        Ok(())
    }
}

impl Me {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let remote = Remote::of(&self.account.connection()?)?;
        let Answer { status, body } = remote.get("/api/auth/me")?;
        if status != 200 {
            return Err(remote.refusal(&Answer { status, body }));
        }
        printer.answer(
            || {
                let names = ["name", "email", "kind", "role", "project", "environment", "id"];
                let texts = names.iter().filter_map(|name| Some((name, body[*name].as_str()?)));
                let lines: Vec<_> =
                    texts.map(|(name, value)| format!("{name:11}  {value}")).collect();
                lines.join("\n") + "\n"
            },
            || body.clone(),
        );
        Ok(())
    }
}

impl List {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        let mut profiles = Profiles::read()?;
        if let Some(ListCommand::Remove { name }) = self.command {
            if profiles.all.remove(&name).is_none() {
                let message = format!("there is no profile '{name}'");
                return Err(Failure::new(Code::NotFound, message));
            }
            profiles.write()?;
            printer.done(&format!("forgot the profile '{name}'"));
            return Ok(());
        }
        let rows = profiles.all.iter().flat_map(|(profile, entries)| {
            entries.iter().map(move |(env, entry)| {
                [profile.as_str(), env.name(), &entry.email, &entry.url].map(str::to_owned).to_vec()
            })
        });
        let rows: Vec<_> = rows.collect();
        let names = ["profile", "env", "email", "url"];
        printer.answer(
            || table(&names, &rows),
            || {
                let one = |row: &Vec<String>| {
                    let pairs = names.iter().zip(row);
                    Value::Object(
                        pairs.map(|(name, text)| ((*name).into(), text.as_str().into())).collect(),
                    )
                };
                rows.iter().map(one).collect()
            },
        );
        Ok(())
    }
}
