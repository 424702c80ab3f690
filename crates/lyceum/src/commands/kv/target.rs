//! The key-value store that a command works on: the local one, or that of the deployed project.

use std::sync::Arc;

use lyceum_core::time::SystemClock;
use lyceum_deploy::{KvEntries, Server};
use lyceum_hosting::kv::Kv;
use lyceum_project::Binding;
use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::printer::Printer;
use crate::project::ProjectDataArgs;

/// A key-value store.
pub(super) enum Target {
    Local(Kv),
    Deployed { server: Server, slug: String, env: &'static str },
}

impl Target {
    pub(super) fn open(project_data: &ProjectDataArgs, printer: &Printer) -> Result<Self> {
        if let Some((server, slug)) = project_data.deployed(printer)? {
            return Ok(Self::Deployed { server, slug, env: project_data.env.name() });
        }
        let file = lyceum_project::folder_of(&project_data.config).join(Binding::Kv.names().local);
        let folder = file.parent().expect("the file lies in a folder");
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::failed(format!("cannot create the folder '{}': {error}", folder.display()))
        })?;
        Ok(Self::Local(Kv::open(&file, Arc::new(SystemClock))?))
    }

    /// The store's name in messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Local(_) => "the local KV",
            Self::Deployed { env, .. } => env,
        }
    }

    pub(super) fn list(
        &self,
        prefix: &str,
        cursor: Option<&str>,
        limit: Option<usize>,
    ) -> Result<Value> {
        Ok(match self {
            Self::Local(kv) => json!(kv.list(prefix, cursor, limit)?),
            Self::Deployed { server, slug, .. } => {
                KvEntries::of(server, slug).list(prefix, cursor, limit)?
            }
        })
    }

    /// All keys with a prefix.
    pub(super) fn keys(&self, prefix: &str) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = self.list(prefix, cursor.as_deref(), None)?;
            let names = page["keys"].as_array().into_iter().flatten();
            keys.extend(names.filter_map(|key| key["name"].as_str()).map(str::to_owned));
            cursor = page["cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                return Ok(keys);
            }
        }
    }

    /// A key with its expiry and metadata, as lists show it. In byte order, it is the first key that begins with itself.
    pub(super) fn key(&self, key: &str) -> Result<Option<Value>> {
        let page = self.list(key, None, Some(1))?;
        Ok(page["keys"].get(0).filter(|found| found["name"] == key).cloned())
    }

    pub(super) fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(match self {
            Self::Local(kv) => kv.get(key)?,
            Self::Deployed { server, slug, .. } => KvEntries::of(server, slug).get(key)?,
        })
    }

    pub(super) fn put(
        &self,
        key: &str,
        value: &[u8],
        metadata: Option<&Value>,
        ttl_s: Option<i64>,
    ) -> Result {
        match self {
            Self::Local(kv) => kv.put(key, value, metadata, ttl_s)?,
            Self::Deployed { server, slug, .. } => {
                KvEntries::of(server, slug).put(key, value, metadata, ttl_s)?;
            }
        }
        Ok(())
    }

    pub(super) fn delete(&self, keys: &[String]) -> Result {
        for keys in keys.chunks(1000) {
            match self {
                Self::Local(kv) => kv.delete(keys)?,
                Self::Deployed { server, slug, .. } => KvEntries::of(server, slug).delete(keys)?,
            }
        }
        Ok(())
    }
}
