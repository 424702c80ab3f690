//! The servers that share the database.

use lyceum_access::Scope;
use lyceum_core::Result;
use lyceum_hosting::nodes::report::{self, NodeStatus};
use lyceum_http::answer::Answer;
use lyceum_http::render::Rendering;
use lyceum_http::route::get;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Area, Context};

/// The servers that share the database.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct NodeList {
    /// The servers that reported in the last hour, and those that hold files of projects.
    nodes: Vec<NodeStatus>,
    /// The difference between the public addresses in the settings of the live servers; null if they agree or only one
    /// server is live.
    address_conflict: Option<String>,
}

pub(super) fn area() -> Area {
    Area {
        name: "nodes",
        base: "/api/nodes",
        rendering: Rendering::Problem,
        description: "The servers that share the database.",
        routes: vec![
            get("", Scope::ServerRead, list)
                .named("getNodes")
                .description(
                    "Lists the servers that share the database, with their releases and states.",
                )
                .answers::<NodeList>(200, "The servers."),
        ],
    }
}

async fn list(context: Context) -> Result<Answer> {
    let nodes = context.app.db.read(report::list).await?;
    let address_conflict = report::address_conflict(&nodes);
    Ok(Answer::of(&NodeList { nodes, address_conflict }))
}
