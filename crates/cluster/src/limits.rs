//! The limits of this crate, each with its unit.

// # Internal

/// Seconds between two reports of a server that it lives; well below `NODE_LEASE_S`.
pub const NODE_REPORT_EVERY_S: u64 = 15;
/// Milliseconds between two renewals of the lease of a node; well below `HOME_LEASE_MS`.
pub const HOME_LEASE_RENEW_MS: u64 = 3_000;
/// Milliseconds between two looks at the leases of other nodes, by which their projects are taken later.
pub const HOME_LEASE_WATCH_MS: u64 = 1_000;
/// Milliseconds that another node has to accept a connection.
pub const FORWARD_CONNECT_MAX_MS: u64 = 2_000;
/// Milliseconds between two checks whether the node to which a request was forwarded still holds the project.
pub const FORWARD_CHECK_EVERY_MS: u64 = 2_000;
/// Connections to one other node that are kept for the next requests.
pub const FORWARD_IDLE_CONNECTIONS_MAX_COUNT: usize = 64;
/// Seconds that such a connection is kept without a request; below the shortest `server.keep_alive_s` that is usual.
pub const FORWARD_IDLE_S: u64 = 30;
/// Milliseconds after which a node refuses a request that another node forwarded, by its own clock. Half of them are
/// for the way; clocks of nodes may differ by the other half.
pub const FORWARDED_MAX_AGE_MS: u64 = 120_000;
/// Seconds between two comparisons of the stored marks of the installation with those of the database.
pub const INSTALLATION_CHECK_EVERY_S: u64 = 20;
/// Comparisons of the marks at once at most, while other servers begin new installations.
pub const INSTALLATION_CHECK_MAX_COUNT: u32 = 5;
/// Seconds after a comparison of the marks for which a server deletes objects of the S3 bucket.
pub const INSTALLATION_PROOF_S: u64 = 60;
/// Projects that a server takes from other servers at once at most.
pub const TAKEOVERS_MAX_COUNT: usize = 4;
/// Milliseconds that an attempt to take a project waits at most for the database and for other work on the project.
pub const TAKEOVER_STEP_MAX_MS: u64 = 60_000;
/// Milliseconds after a failed attempt to take a project until the next one.
pub const TAKEOVER_RETRY_MS: u64 = 2_000;
/// Seconds that a node waits for another node's answer about an upload, beyond the time that the other node may take.
pub const FORWARD_SPARE_S: u64 = 2;
