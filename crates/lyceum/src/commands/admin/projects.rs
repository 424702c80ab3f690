//! `lyceum admin project`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use lyceum_core::config::Config;
use lyceum_core::time::{Clock, SystemClock};
use lyceum_hosting::homes::{self, ProjectHome};
use lyceum_hosting::nodes::{self, Node, NodeSettings};
use serde_json::json;

use crate::failure::Result;
use crate::printer::{Printer, table};
use crate::settings::{self, DataArgs, Missing, record_change, write};

#[derive(Subcommand)]
pub(crate) enum Project {
    /// Show which node holds the files of each project
    List(List),
    /// Make this data folder's node the holder of a project whose files were restored or moved here
    Adopt(Adopt),
}

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    data: DataArgs,
}

#[derive(Args)]
pub(crate) struct Adopt {
    /// Slug of the project
    slug: String,
    /// Continue even if the files lack the mark that the database expects
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    data: DataArgs,
}

impl Project {
    pub(crate) fn run(self, printer: &Printer) -> Result {
        match self {
            Self::List(list) => list.run(printer),
            Self::Adopt(adopt) => adopt.run(printer),
        }
    }
}

impl List {
    fn run(self, printer: &Printer) -> Result {
        let (_, db) = self.data.open(Missing::Refuse)?;
        let all = db.read_blocking(homes::list)?;
        let row = |(slug, home): &(String, Option<ProjectHome>)| match home {
            Some(ProjectHome { node, has_lease, .. }) => {
                vec![
                    slug.clone(),
                    node.name.clone(),
                    node.address.clone(),
                    lease(*has_lease).into(),
                ]
            }
            None => vec![slug.clone(), String::new(), String::new(), String::new()],
        };
        let rows: Vec<_> = all.iter().map(row).collect();
        let described = |(slug, home): &(String, Option<ProjectHome>)| {
            let node = home.as_ref().map(|ProjectHome { node, token, has_lease }| {
                json!({
                    "id": node.id, "name": node.name, "address": node.address, "token": token,
                    "hasLease": has_lease,
                })
            });
            json!({ "slug": slug, "node": node })
        };
        printer.answer(
            || table(&["project", "node", "address", "lease"], &rows),
            || all.iter().map(described).collect(),
        );
        Ok(())
    }
}

/// The state of a lease in a table.
fn lease(has_lease: Option<bool>) -> &'static str {
    match has_lease {
        Some(true) => "valid",
        Some(false) => "ended",
        None => "not needed",
    }
}

impl Adopt {
    fn run(self, printer: &Printer) -> Result {
        let (config, db) = self.data.open(Missing::Refuse)?;
        let (node, _alone) = node(&config)?;
        let blobs = settings::blobs(&config, &db)?;
        let (now, name) = (SystemClock.now(), node.name().to_owned());
        let (slug, is_forced) = (self.slug.clone(), self.force);
        let before = write(&db, move |tx| {
            nodes::note(tx, now, &node)?;
            let before = homes::adopt(tx, (&node, &blobs), &slug, is_forced)?;
            record_change(tx, now, "project.adopt", &slug)?;
            Ok(before)
        })?;
        let from = before.map(|node| format!("; it was held by {}", homes::describe_node(&node)));
        printer.done(&format!(
            "the node '{name}' now holds the project '{}'{}",
            self.slug,
            from.unwrap_or_default()
        ));
        Ok(())
    }
}

/// The node of the data folder. A folder without a node becomes one.
pub(super) fn node(config: &Config) -> Result<(Node, nodes::NodeLock)> {
    Ok(Node::of_folder(&folder(config), &about(config))?)
}

/// The node of the data folder, without creating one.
pub(super) fn known_node(config: &Config) -> Result<Node> {
    Ok(Node::read(&folder(config), &about(config))?)
}

fn folder(config: &Config) -> PathBuf {
    config.store.data.join(lyceum_hosting::FOLDER)
}

fn about(config: &Config) -> NodeSettings<'_> {
    NodeSettings {
        name: &config.server.node_name,
        address: config.server.node_address(),
        shares_blobs: !config.s3.bucket.is_empty(),
    }
}
