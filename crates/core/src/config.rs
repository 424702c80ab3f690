//! Settings: layered, typed, each value with its origin. The only reader of the environment.
//!
//! [`load`] lays the compiled-in defaults, a file, variables and flags over each other. A name
//! that no setting has, or a value that does not fit, is an [`SettingError`] that names its layer.

mod load;
mod values;

use std::path::PathBuf;

use serde::Deserialize;

pub use load::{
    DEFAULTS, FlagValue, LoadedConfig, SettingError, SettingOrigin, environment, load, no_color,
    variable,
};
pub use values::{Network, Secret};

/// Every setting. Built by [`load`]; `config.default.toml` says what each one means.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each section")]
pub struct Config {
    pub server: ServerSettings,
    pub tls: TlsSettings,
    pub store: StoreSettings,
    pub metrics: MetricsSettings,
    pub telemetry: TelemetrySettings,
    pub limits: LimitSettings,
    pub roster: RosterSettings,
    pub keys: KeySettings,
    pub backup: BackupSettings,
    pub privacy: PrivacySettings,
    pub verify: VerifySettings,
    pub webhooks: WebhookSettings,
    pub hosting: HostingSettings,
    pub admin: AdminSettings,
    pub oidc: OidcSettings,
    pub s3: S3Settings,
    pub replica: ReplicaSettings,
}

/// How the process listens, answers and logs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct ServerSettings {
    #[serde(deserialize_with = "values::listen")]
    pub listen: String,
    #[serde(deserialize_with = "values::public_url")]
    pub public_url: Option<String>,
    pub env: Environment,
    #[serde(deserialize_with = "values::time_zone")]
    pub time_zone: String,
    pub node_name: String,
    pub node_address: String,
    pub workers: usize,
    pub request_timeout_s: u64,
    pub header_timeout_s: u64,
    pub keep_alive_s: u64,
    pub body_max_bytes: usize,
    #[serde(deserialize_with = "values::above_zero")]
    pub connections: usize,
    #[serde(deserialize_with = "values::above_zero")]
    pub connections_per_address: usize,
    pub shutdown_grace_s: u64,
    pub shutdown_notice_ms: u64,
    pub compression: bool,
    pub trusted_proxies: Vec<Network>,
    pub log_format: LogFormat,
    pub log_level: String,
    pub slow_request_ms: u64,
}

/// Certificate and key. Set both or neither.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct TlsSettings {
    #[serde(deserialize_with = "values::optional_path")]
    pub certificate: Option<PathBuf>,
    #[serde(deserialize_with = "values::optional_path")]
    pub key: Option<PathBuf>,
}

/// Where the data is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct StoreSettings {
    pub data: PathBuf,
    #[serde(deserialize_with = "values::database")]
    pub database: Option<Secret>,
    #[serde(deserialize_with = "values::database")]
    pub read_replica: Option<Secret>,
    #[serde(deserialize_with = "values::above_zero")]
    pub postgres_connections: usize,
    pub sqlite_mmap_bytes: u64,
    pub slow_statement_ms: u64,
}

/// How the monitoring system reads metrics.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct MetricsSettings {
    #[serde(deserialize_with = "values::optional_listen")]
    pub address: Option<String>,
}

/// Where traces and metrics are sent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct TelemetrySettings {
    #[serde(deserialize_with = "values::collector")]
    pub endpoint: Option<String>,
    #[serde(deserialize_with = "values::headers")]
    pub headers: Vec<(String, Secret)>,
    pub trace_one_in: u32,
    pub metrics_interval_s: u64,
}

/// How many requests one client may send.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct LimitSettings {
    pub requests_per_second: u32,
    pub burst: u32,
}

/// How the server accepts roster records.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct RosterSettings {
    pub allocate_missing_ids: bool,
    pub settle_interval_s: u64,
    pub absent_records: AbsentRecords,
}

/// The treatment of records that a roster import wrote last and that the bulk files of the next one do not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AbsentRecords {
    /// They stay.
    #[default]
    Keep,
    /// They are marked as deleted.
    End,
}

/// Keys that operators hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct KeySettings {
    #[serde(deserialize_with = "values::optional_secret")]
    pub master: Option<Secret>,
    #[serde(deserialize_with = "values::optional_secret")]
    pub master_other: Option<Secret>,
}

/// Backups that the server makes by itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct BackupSettings {
    pub to: String,
    #[serde(deserialize_with = "values::optional_secret")]
    pub key: Option<Secret>,
    #[serde(deserialize_with = "values::times_of_day")]
    pub at: Vec<jiff::civil::Time>,
    #[serde(deserialize_with = "values::above_zero")]
    pub keep_days: usize,
    pub keep_weeks: usize,
}

/// How long data about persons is kept outside of the live data.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct PrivacySettings {
    pub history_days: i64,
}

/// How credentials are verified.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct VerifySettings {
    pub fetch: bool,
}

/// Where webhooks may lead.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct WebhookSettings {
    pub allow: Vec<String>,
}

/// How deployed projects are served.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct HostingSettings {
    pub domain: String,
    pub promote_to: String,
    #[serde(deserialize_with = "values::optional_secret")]
    pub promote_key: Option<Secret>,
}

/// The first administrator, if settings create the account. Set both or neither.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct AdminSettings {
    pub email: String,
    #[serde(deserialize_with = "values::optional_secret")]
    pub password: Option<Secret>,
}

/// Sign-in with an OpenID provider.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct OidcSettings {
    #[serde(deserialize_with = "values::issuer")]
    pub issuer: Option<String>,
    pub client_id: String,
    #[serde(deserialize_with = "values::optional_secret")]
    pub client_secret: Option<Secret>,
    pub name: String,
    pub domains: Vec<String>,
    #[serde(deserialize_with = "values::new_accounts")]
    pub new_accounts: Option<NewAccounts>,
    pub hosts: Vec<String>,
}

/// The role of new accounts that people of the provider get. It is never administrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewAccounts {
    /// Accompanies students.
    Guide,
    /// Makes apps.
    Developer,
}

/// The S3 bucket for the files of deployed projects. Without a name the files are on disk.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct S3Settings {
    pub bucket: String,
    pub endpoint: String,
    pub region: String,
    pub prefix: String,
    #[serde(deserialize_with = "values::optional_secret")]
    pub access_key: Option<Secret>,
    #[serde(deserialize_with = "values::optional_secret")]
    pub secret_key: Option<Secret>,
}

impl Config {
    /// Whether SQLite files are replicated.
    pub fn has_replicas(&self) -> bool {
        !self.replica.folder.is_empty() || !self.s3.bucket.is_empty()
    }
}

/// Where SQLite files are replicated.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.default.toml describes each setting")]
pub struct ReplicaSettings {
    pub folder: String,
    pub keep_days: u32,
}

/// The environment that a server belongs to. The two share no data, keys or tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// For tests.
    Staging,
    /// For real students.
    Production,
}

impl ServerSettings {
    /// The address under which other nodes and people reach this node.
    pub fn node_address(&self) -> &str {
        if self.node_address.is_empty() { &self.listen } else { &self.node_address }
    }
}

impl Environment {
    /// Its name in settings, tokens and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Staging => "staging",
            Self::Production => "production",
        }
    }
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// A JSON object per line.
    Json,
}

impl Config {
    /// The compiled-in defaults.
    pub fn defaults() -> Self {
        load(None, [], &[]).expect("the compiled-in defaults are valid").config
    }

    /// The address under which clients reach this server, without a final slash.
    pub fn public_url(&self) -> String {
        if let Some(url) = &self.server.public_url {
            return url.clone();
        }
        let scheme = if self.tls.certificate.is_some() { "https" } else { "http" };
        let (host, port) = self.server.listen.rsplit_once(':').expect("checked by the loader");
        // A client cannot connect to a wildcard address.
        let host = if matches!(host, "0.0.0.0" | "[::]") { "localhost" } else { host };
        format!("{scheme}://{host}:{port}")
    }
}
