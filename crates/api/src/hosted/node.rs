//! The node of this server, and the projects whose files are in its data folder.

use std::sync::Arc;

use lyceum_core::Result;
use lyceum_core::config::Config;
use lyceum_hosting::nodes::{self, Node, NodeSettings};
use lyceum_store::{Db, run_blocking};

use super::deletion;

/// Starts a new generation of the node of the data folder, and claims projects whose node is unknown if their files are
/// in this folder. `bound` is the address of the listener.
pub async fn start_generation(db: &Db, config: &Config, bound: &str) -> Result<Arc<Node>> {
    let (folder, server) = (config.store.data.join("hosting"), config.server.clone());
    let shares_blobs = !config.s3.bucket.is_empty();
    let bound = bound.to_owned();
    let open = move || {
        let address = if server.node_address.is_empty() { &bound } else { &server.node_address };
        let (node, alone) = Node::of_folder(
            &folder,
            &NodeSettings { name: &server.node_name, address, shares_blobs },
        )?;
        node.advance(&alone)?;
        Ok((node, alone))
    };
    // Another process that starts with this folder waits until this one has begun.
    let (node, alone) = run_blocking(open).await?;
    let mut node = Arc::new(node);
    let entering = Arc::clone(&node);
    if !db.write(move |tx| nodes::enter(tx, &entering)).await? {
        tracing::warn!(
            node = node.name(),
            "the data folder is a copy or an old state of another node's folder, so this is a new node without projects; \
             `lyceum admin project adopt` assigns a project to it"
        );
        node = run_blocking(move || node.renewed(&alone).map(Arc::new)).await?;
        let entering = Arc::clone(&node);
        db.write(move |tx| nodes::enter(tx, &entering)).await?;
    }
    deletion::recover(db, &node, &config.s3).await?;
    Ok(node)
}
