//! Service times: CPU of the release binary and of PostgreSQL 15 on 2 cores of an AMD EPYC, with 20 000 users and 200 000
//! enrollments. `docs/scale.md` says how they were measured.

/// What a request of one kind costs.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// The name in tables.
    pub name: &'static str,
    /// The share of all requests.
    pub share: f64,
    /// CPU time of the node.
    pub node_us: f64,
    /// CPU time of PostgreSQL.
    pub database_us: f64,
    /// Times that the node waits for an answer of PostgreSQL.
    pub round_trips: f64,
    /// Whether the answer waits for a commit.
    pub commits: bool,
}

/// From a node to PostgreSQL and back, in one data centre.
pub(super) const ROUND_TRIP_US: f64 = 200.0;
/// A sync of the write-ahead log, which all waiting commits share: `fdatasync` by `pg_test_fsync`.
pub const SYNC_US: f64 = 200.0;

/// The requests of a school day.
pub const MIX: &[Demand] = &[
    Demand {
        name: "a user by sourcedId",
        share: 0.50,
        node_us: 70.0,
        database_us: 38.0,
        round_trips: 1.0,
        commits: false,
    },
    Demand {
        name: "the enrollments of a user",
        share: 0.20,
        node_us: 108.0,
        database_us: 85.0,
        round_trips: 1.0,
        commits: false,
    },
    Demand {
        name: "a page of 100 users",
        share: 0.05,
        node_us: 297.0,
        database_us: 442.0,
        round_trips: 1.0,
        commits: false,
    },
    Demand {
        name: "a user created",
        share: 0.05,
        node_us: 281.0,
        database_us: 410.0,
        round_trips: 4.0,
        commits: true,
    },
    Demand {
        name: "an envelope of 10 events",
        share: 0.20,
        node_us: 155.0,
        database_us: 192.0,
        round_trips: 4.0,
        commits: true,
    },
];
