//! The stores that a backend can have: members of its `env`, such as `env.KV`.
//!
//! A new one is a [`Binding`] and a member of [`Uses`] here. The compiler then asks for its key in the config file
//! (`config/file.rs`) and for its store (`bindings/stores.rs` in the crate `hosting`). Beside that file are its protocol and
//! its SQL; its limits are in `limits.rs`. Its type is in `web/sdk/src/bindings.ts`, its guide in
//! `docs/guides/app-developers.md`. Deploys, nodes, backups, `lyceum dev` and the console follow from here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A store that a backend can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binding {
    /// A SQLite database.
    Database,
    /// A key-value store.
    Kv,
    /// A bucket of files.
    Bucket,
}

/// How a binding is named.
pub struct BindingNames {
    /// Its key below `integrations` in the config file, and its member of [`Uses`].
    pub key: &'static str,
    /// Its member of `env`, also in the SDK's type `Stores`.
    pub env: &'static str,
    /// Its name in messages.
    pub noun: &'static str,
    /// Its file or folder on a server, in the project's folder.
    pub on_server: &'static str,
    /// Its file or folder on the developer's machine, in the project's folder.
    pub local: &'static str,
}

impl Binding {
    /// All bindings.
    pub const ALL: [Self; 3] = [Self::Database, Self::Kv, Self::Bucket];

    /// The names of the binding.
    pub const fn names(self) -> BindingNames {
        match self {
            Self::Database => BindingNames {
                key: "database",
                env: "DB",
                noun: "database",
                on_server: "d1.sqlite",
                local: ".lyceum/app.db",
            },
            Self::Kv => BindingNames {
                key: "kv",
                env: "KV",
                noun: "KV",
                on_server: "kv.sqlite",
                local: ".lyceum/kv.db",
            },
            Self::Bucket => BindingNames {
                key: "bucket",
                env: "BUCKET",
                noun: "bucket",
                on_server: "bucket",
                local: ".lyceum/bucket",
            },
        }
    }
}

/// The integrations that a project uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is an integration that is on or off")]
#[schemars(rename = "ProjectIntegrations")]
pub struct Uses {
    // A further member needs `#[serde(default)]`, because stored versions do not have it.
    /// A database.
    pub database: bool,
    /// A key-value store.
    pub kv: bool,
    /// A bucket.
    pub bucket: bool,
    /// Learning: courses, XP, events.
    pub lms: bool,
}

impl Uses {
    /// The bindings for which the function returns `true`, and no other integration.
    pub fn with_bindings(is_used: impl Fn(Binding) -> bool) -> Self {
        Self {
            database: is_used(Binding::Database),
            kv: is_used(Binding::Kv),
            bucket: is_used(Binding::Bucket),
            lms: false,
        }
    }

    /// Whether the project uses the binding.
    pub fn has(self, binding: Binding) -> bool {
        match binding {
            Binding::Database => self.database,
            Binding::Kv => self.kv,
            Binding::Bucket => self.bucket,
        }
    }

    /// The bindings that the project uses.
    pub fn bindings(self) -> impl Iterator<Item = Binding> {
        Binding::ALL.into_iter().filter(move |binding| self.has(*binding))
    }

    /// The keys of the integrations that are on.
    pub fn names(self) -> Vec<&'static str> {
        let keys = self.bindings().map(|binding| binding.names().key);
        keys.chain(self.lms.then_some("lms")).collect()
    }
}
