//! Clients and the hashes of their secrets.

use std::collections::BTreeMap;

use lyceum_core::time::Timestamp;
use lyceum_core::{PayloadDialect, Reach, Result};
use lyceum_store::{Row, Tx, Value};

use super::{of_ids, reach};
use crate::limits;
use crate::scope::Scopes;
use crate::secret::SecretHash;

/// A stored client, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The payload dialect of its answers.
    pub dialect: PayloadDialect,
    /// The scopes that it may request.
    pub scopes: Scopes,
    /// Origins of web pages that may call with its tokens (CORS), such as `https://app.test`.
    pub origins: Vec<String>,
    /// Requests a second, in place of the server's setting; 0: no limit.
    pub requests_per_second: Option<u32>,
    /// When it was made.
    pub created: Timestamp,
    /// Since when it is refused.
    pub revoked: Option<Timestamp>,
    /// Grows with every change of any client: see [`changed_since`](crate::client::changed_since).
    pub changed: i64,
    /// The part of the roster that it has access to.
    pub reach: Reach,
}

const COLUMNS: &str = "id, name, dialect, scopes, origins, requests_per_second, created_ms, revoked_ms, changed, reach";

/// The client of an id.
pub fn find(tx: &mut Tx<'_>, id: &str) -> Result<Option<Client>> {
    tx.query_one(&format!("SELECT {COLUMNS} FROM clients WHERE id = $1"), &[Value::from(id)], read)
}

/// Every client in the order of its making, revoked ones too.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<Client>> {
    collect(tx, &format!("SELECT {COLUMNS} FROM clients ORDER BY created_ms, id"), &[])
}

/// The clients of these ids.
pub(crate) fn with_ids(tx: &mut Tx<'_>, ids: &[&str]) -> Result<Vec<Client>> {
    let (sql, list) = of_ids(tx, "clients", COLUMNS, ids)?;
    collect(tx, &sql, &[list.as_str().into()])
}

/// The clients that changed after a [`Client::changed`], in the order of their changes. No change
/// is missed: the counter's row is locked until its transaction ends.
pub fn changed_since(tx: &mut Tx<'_>, changed: i64) -> Result<Vec<Client>> {
    let sql = format!("SELECT {COLUMNS} FROM clients WHERE changed > $1 ORDER BY changed");
    collect(tx, &sql, &[Value::from(changed)])
}

/// The next number of a change; its row stays locked until the transaction ends.
pub(crate) fn next_change(tx: &mut Tx<'_>) -> Result<i64> {
    let sql = "UPDATE access_counter SET value = value + 1 WHERE id = 1 RETURNING value";
    Ok(tx.query_one(sql, &[], |row| row.int(0))?.expect("the migration makes the row"))
}

/// Adds a client with its list of scopes as given; false when the id is taken.
pub(crate) fn insert(tx: &mut Tx<'_>, client: &Client, scopes: &str) -> Result<bool> {
    let inserted = tx.execute(
        "INSERT INTO clients (id, name, dialect, scopes, origins, requests_per_second, \
         created_ms, changed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING",
        &[
            Value::from(&client.id),
            Value::from(&client.name),
            Value::from(client.dialect.name()),
            Value::from(scopes),
            Value::from(&client.origins.join(" ")),
            Value::from(client.requests_per_second.map(i64::from)),
            Value::from(client.created.milliseconds()),
            Value::from(client.changed),
        ],
    )?;
    Ok(inserted == 1)
}

/// Writes what can change: the revocation, the reach and the number of the change.
pub(crate) fn update(tx: &mut Tx<'_>, client: &Client) -> Result<()> {
    tx.send(
        "UPDATE clients SET revoked_ms = $1, changed = $2, reach = $3 WHERE id = $4",
        &[
            Value::from(client.revoked.map(Timestamp::milliseconds)),
            Value::from(client.changed),
            Value::from(reach::text(&client.reach)?.as_deref()),
            Value::from(&client.id),
        ],
    )?;
    Ok(())
}

/// Adds a secret that does not expire.
pub(crate) fn add_secret(
    tx: &mut Tx<'_>,
    now: Timestamp,
    client: &str,
    hash: &SecretHash,
) -> Result<()> {
    tx.send(
        "INSERT INTO client_secrets (client, hash, created_ms) VALUES ($1, $2, $3)",
        &[Value::from(client), Value::from(hash.as_slice()), Value::from(now.milliseconds())],
    )?;
    Ok(())
}

/// Whether one of the client's valid secrets passes the comparison.
pub(crate) fn has_secret(
    tx: &mut Tx<'_>,
    now: Timestamp,
    client: &str,
    same: impl Fn(&[u8]) -> bool,
) -> Result<bool> {
    let mut valid = false;
    tx.query(
        "SELECT hash FROM client_secrets \
         WHERE client = $1 AND (expires_ms IS NULL OR expires_ms > $2)",
        &[Value::from(client), Value::from(now.milliseconds())],
        |row| {
            valid |= same(row.blob(0)?);
            Ok(true)
        },
    )?;
    Ok(valid)
}

/// Makes room for a new secret: of the others only the newest stays.
pub(crate) fn keep_newest_secret(tx: &mut Tx<'_>, client: &str, new: &SecretHash) -> Result<()> {
    tx.send(
        "DELETE FROM client_secrets WHERE client = $1 AND (hash = $2 OR hash NOT IN \
         (SELECT hash FROM client_secrets WHERE client = $1 AND hash <> $2 \
         ORDER BY created_ms DESC, hash LIMIT 1))",
        &[Value::from(client), Value::from(new.as_slice())],
    )?;
    Ok(())
}

/// Lets every secret of the client expire at the instant; one that expires earlier stays as it is.
pub(crate) fn expire_secrets(tx: &mut Tx<'_>, client: &str, at: Timestamp) -> Result<()> {
    tx.send(
        "UPDATE client_secrets SET expires_ms = $1 \
         WHERE client = $2 AND (expires_ms IS NULL OR expires_ms > $1)",
        &[Value::from(at.milliseconds()), Value::from(client)],
    )?;
    Ok(())
}

/// Deletes every secret of the client.
pub(crate) fn delete_secrets(tx: &mut Tx<'_>, client: &str) -> Result<()> {
    tx.send("DELETE FROM client_secrets WHERE client = $1", &[Value::from(client)])?;
    Ok(())
}

fn collect(tx: &mut Tx<'_>, sql: &str, params: &[Value<'_>]) -> Result<Vec<Client>> {
    let mut clients = Vec::new();
    tx.query(sql, params, |row| {
        clients.push(read(row)?);
        Ok(true)
    })?;
    Ok(clients)
}

fn read(row: &Row<'_>) -> Result<Client> {
    Ok(Client {
        id: row.text(0)?.to_owned(),
        name: row.text(1)?.to_owned(),
        dialect: row.text(2)?.parse().unwrap_or(PayloadDialect::Platform),
        scopes: match row.text(3)? {
            "" => Scopes::EVERYTHING,
            list => Scopes::parse_known(list),
        },
        origins: row.text(4)?.split_whitespace().map(str::to_owned).collect(),
        requests_per_second: row.opt_int(5)?.and_then(|rate| u32::try_from(rate).ok()),
        created: Timestamp::from_milliseconds(row.int(6)?),
        revoked: row.opt_int(7)?.map(Timestamp::from_milliseconds),
        changed: row.int(8)?,
        reach: reach::parsed(row.opt_text(9)?)?,
    })
}

/// When each client that ever did last asked for a token, to [`limits::LAST_USE_RESOLUTION_S`].
pub fn uses(tx: &mut Tx<'_>) -> Result<BTreeMap<String, Timestamp>> {
    let mut uses = BTreeMap::new();
    tx.query("SELECT client, used_ms FROM client_uses", &[], |row| {
        uses.insert(row.text(0)?.to_owned(), Timestamp::from_milliseconds(row.int(1)?));
        Ok(true)
    })?;
    Ok(uses)
}

/// Notes that a client asks for a token.
pub fn touch(tx: &mut Tx<'_>, now: Timestamp, id: &str) -> Result<()> {
    tx.send(
        "INSERT INTO client_uses (client, used_ms) VALUES ($1, $2) \
         ON CONFLICT (client) DO UPDATE SET used_ms = excluded.used_ms \
         WHERE excluded.used_ms > client_uses.used_ms",
        &[id.into(), now.milliseconds().into()],
    )?;
    Ok(())
}

/// Whether the stored last use of a client is old enough to be updated.
pub fn is_stale(tx: &mut Tx<'_>, now: Timestamp, id: &str) -> Result<bool> {
    let sql = "SELECT used_ms FROM client_uses WHERE client = $1";
    let used = tx.query_one(sql, &[id.into()], |row| row.int(0))?;
    let stale = now.plus_seconds(-limits::LAST_USE_RESOLUTION_S).milliseconds();
    Ok(used.is_none_or(|used| used <= stale))
}
