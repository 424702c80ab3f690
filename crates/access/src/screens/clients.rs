//! Clients: for administrators alone, since clients act for everybody.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, ProblemKind, Reach, Result, message};
use lyceum_store::Tx;
use serde_json::{Value, json};

use crate::audit::AuditChange;
use crate::client::{self, Client, ClientSecrets, NewClient};
use crate::master::MasterKey;
use crate::person::{Person, Role};
use crate::{Scopes, UnknownScope, signed_request};

/// Seconds for which the former secret works after a new one was created.
const OVERLAP_S: i64 = 24 * 3600;

/// A client, and how it is used.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientWithUse {
    /// The client.
    pub client: Client,
    /// When it last got a token or signed a request.
    pub used: Option<Timestamp>,
    /// Whether it has a signing secret.
    pub signs: bool,
}

/// Errors: `Forbidden` for people who may not manage clients.
pub fn check(viewer: &Person) -> Result<()> {
    match viewer.role {
        Role::Administrator => Ok(()),
        role => {
            let message = message!(
                "clients are for the role 'administrator'; your role is '{role}'; create an API key for one of your \
                 projects"
            );
            Err(Problem::new(ProblemKind::Forbidden, message))
        }
    }
}

/// Reads the list of clients. Errors: `Forbidden`.
pub fn list(tx: &mut Tx<'_>, viewer: &Person) -> Result<Vec<ClientWithUse>> {
    check(viewer)?;
    let (last_uses, signing) = (client::uses(tx)?, signed_request::signing_clients(tx)?);
    let with_use = |client: Client| {
        let used = last_uses.get(&client.id).copied();
        let signs = signing.contains(&client.id);
        ClientWithUse { client, used, signs }
    };
    Ok(client::list(tx)?.into_iter().map(with_use).collect())
}

/// Reads the page of a client. Errors: `Forbidden`, `NotFound`.
pub fn read(tx: &mut Tx<'_>, viewer: &Person, id: &str) -> Result<ClientWithUse> {
    check(viewer)?;
    let client = client::find(tx, id)?.ok_or_else(|| {
        Problem::new(ProblemKind::NotFound, message!("there is no client with the id '{id}'"))
    })?;
    let used = client::uses(tx)?.remove(id);
    let signs = signed_request::is_signing(tx, id)?;
    Ok(ClientWithUse { client, used, signs })
}

/// The scopes that a form asks for. An empty choice is refused: a client without scopes has all of them, which is
/// easily overlooked on a page. Errors: `Invalid`, at `scope`.
pub fn chosen_scopes(is_all: bool, names: &[String]) -> Result<Scopes> {
    match (is_all, names) {
        (true, _) => Ok(Scopes::default()),
        (false, []) => Err(Problem::invalid("scope", "is required: choose what the client may do")),
        (false, names) => names
            .join(" ")
            .parse()
            .map_err(|unknown: UnknownScope| Problem::invalid("scope", unknown.text())),
    }
}

/// Creates a client, and answers it with its secrets; with the master key also a signing secret. Errors: `Forbidden`; as
/// [`client::create`].
pub fn create(
    tx: &mut Tx<'_>,
    now: Timestamp,
    viewer: &Person,
    new: &NewClient,
    master: Option<&MasterKey>,
) -> Result<(Client, ClientSecrets)> {
    check(viewer)?;
    let (client, secrets) = client::create_with_signing(tx, now, new, master)?;
    let details = json!({ "name": client.name, "scopes": client.scopes.to_string() });
    let change = AuditChange { who: &viewer.email, what: "client.create", subject: &client.id };
    change.note(tx, now, &details)?;
    Ok((client, secrets))
}

/// Limits a client to a part of the roster, or frees it. Errors: `Forbidden`; as [`client::limit`].
pub fn limit(
    tx: &mut Tx<'_>,
    now: Timestamp,
    viewer: &Person,
    id: &str,
    reach: &Reach,
) -> Result<()> {
    check(viewer)?;
    client::limit(tx, id, reach)?;
    let change = AuditChange { who: &viewer.email, what: "client.limit", subject: id };
    change.note(tx, now, &json!({ "reach": reach }))
}

/// Gives a client new secrets, and answers them. The former ones work for one more day.
/// Errors: `Forbidden`; as [`client::rotate`].
pub fn rotate(
    tx: &mut Tx<'_>,
    now: Timestamp,
    viewer: &Person,
    id: &str,
    master: &MasterKey,
) -> Result<(Client, ClientSecrets)> {
    check(viewer)?;
    let rotated = client::rotate_with_signing(tx, now, id, None, OVERLAP_S, master)?;
    let change = AuditChange { who: &viewer.email, what: "client.rotate", subject: id };
    change.note(tx, now, &Value::Null)?;
    Ok(rotated)
}

/// Revokes a client. Errors: `Forbidden`; as [`client::revoke`].
pub fn revoke(tx: &mut Tx<'_>, now: Timestamp, viewer: &Person, id: &str) -> Result<()> {
    check(viewer)?;
    client::revoke(tx, now, id)?;
    let change = AuditChange { who: &viewer.email, what: "client.revoke", subject: id };
    change.note(tx, now, &Value::Null)
}
