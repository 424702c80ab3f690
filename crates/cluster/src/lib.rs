//! A server among those that share a database: the lease by which it holds its projects, the requests that it forwards,
//! the projects that it takes from a server that ended, and the replicas of its files.
//!
//! | what | where |
//! |---|---|
//! | what the parts share | `cluster` |
//! | reports that this server lives, and other servers of the database | `nodes` |
//! | the lease of its projects; projects taken from other nodes | `leases`, `takeovers` |
//! | forwarding requests to the node with a project's files, and the signature on them | `forward`, `forward_signature` |
//! | replicas of SQLite files; the installation of the database | `replication` |
//! | limits | `limits` |

mod cluster;
mod forward;
mod forward_signature;
pub mod leases;
pub mod limits;
pub mod nodes;
pub mod replication;
mod takeovers;

pub use cluster::Cluster;
pub use forward::ForwardedBody;
