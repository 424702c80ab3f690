//! What the server uses of SQL, and what the documentation of distributed databases says about it.

use Support::{Full, Missing, Partial, Undocumented};

/// How well a database supports a feature, with the letter of the source.
#[derive(Clone, Copy)]
pub(super) enum Support {
    /// As in PostgreSQL.
    Full,
    /// With a difference or under a condition.
    Partial(&'static str, &'static str),
    /// Not at all.
    Missing(&'static str),
    /// Its documentation does not say.
    Undocumented,
}

/// Something that statements use and that databases support differently.
pub(super) struct Feature {
    pub(super) name: &'static str,
    /// Keywords and functions, each of which means the feature.
    pub(super) words: &'static [&'static str],
    /// Parts of statements that mean it; ` … ` stands for anything between two parts.
    pub(super) phrases: &'static [&'static str],
    /// In the order of [`DATABASES`].
    pub(super) support: [Support; 3],
    /// What the server uses it for, and what has to change for a database without it.
    pub(super) change: &'static str,
}

impl Feature {
    pub(super) fn needs_change(&self) -> bool {
        !self.support.iter().all(|support| matches!(support, Full))
    }
}

pub(super) const DATABASES: [&str; 3] = ["Citus", "YugabyteDB 2025.2", "CockroachDB 25.4"];

/// The pages that the letters stand for.
pub(super) const SOURCES: &[(&str, &str)] = &[
    ("C1", "https://docs.citusdata.com/en/stable/develop/reference_workarounds.html"),
    ("C2", "https://docs.citusdata.com/en/stable/develop/reference_ddl.html"),
    ("C3", "https://github.com/citusdata/citus/pull/6489"),
    ("Y1", "https://docs.yugabyte.com/stable/explore/transactions/explicit-locking/"),
    ("Y2", "https://docs.yugabyte.com/stable/explore/transactions/isolation-levels/"),
    (
        "Y3",
        "https://docs.yugabyte.com/stable/api/ysql/the-sql-language/statements/cmd_listen_notify/",
    ),
    ("K1", "https://www.cockroachlabs.com/docs/v25.4/postgresql-compatibility"),
    ("K2", "https://www.cockroachlabs.com/docs/stable/select-for-update"),
    ("K3", "https://www.cockroachlabs.com/docs/stable/read-committed"),
    ("K4", "https://www.cockroachlabs.com/docs/v25.4/known-limitations"),
    ("K5", "https://www.cockroachlabs.com/docs/stable/rollback-transaction"),
];

pub(super) const FEATURES: &[Feature] = &[
    Feature {
        name: "serializable transactions",
        words: &["SERIALIZABLE"],
        phrases: &[],
        support: [Partial("within one shard only", "C3"), Full, Full],
        change: "All writes of records use them. On Citus, two transactions on different nodes can each read what the \
                 other changes; such a rule needs a lock on a row of one shard.",
    },
    Feature {
        name: "repeatable reads",
        words: &["REPEATABLE"],
        phrases: &[],
        support: [
            Partial("shards do not share a snapshot", "C3"),
            Full,
            Partial("run as serializable", "K3"),
        ],
        change: "Reads of several statements, imports and lessons use them. On Citus, such a read can see one part of a \
                 transaction. On CockroachDB, more transactions are repeated.",
    },
    Feature {
        name: "transactions that see the latest commits",
        words: &["COMMITTED"],
        phrases: &[],
        support: [Full, Partial("a flag before 2025.2", "Y2"), Full],
        change: "The intake of events uses them. Set `yb_enable_read_committed_isolation` on YugabyteDB.",
    },
    Feature {
        name: "`FOR UPDATE`",
        words: &[],
        phrases: &["FOR UPDATE", "FOR NO KEY UPDATE"],
        support: [
            Partial("in queries of one shard", "C1"),
            Full,
            Partial("best effort in serializable transactions", "K4"),
        ],
        change: "Servers lock a job or a list of runs when they claim it, and a lesson locks its student. On Citus, the row has to be found by the \
                 distribution column. On CockroachDB, set `enable_durable_locking_for_serializable`.",
    },
    Feature {
        name: "`FOR SHARE`",
        words: &[],
        phrases: &["FOR SHARE"],
        support: [
            Partial("in queries of one shard", "C1"),
            Full,
            Partial("off in serializable transactions unless set", "K2"),
        ],
        change: "A lesson that appends an event uses it to notice that another write has changed the list of runs. On CockroachDB, set \
                 `enable_shared_locking_for_serializable`.",
    },
    Feature {
        name: "locks that end with a savepoint",
        words: &["SAVEPOINT", "RELEASE"],
        phrases: &[],
        support: [Undocumented, Undocumented, Partial("locks stay until the commit", "K5")],
        change: "A lesson that appends an event takes such a lock only to notice a change of the list of runs. If locks stay, it keeps the list \
                 until the commit, and ids move into runs more rarely.",
    },
    Feature {
        name: "`LOCK TABLE`",
        words: &["LOCK"],
        phrases: &[],
        support: [Full, Partial("preview from 2025.1.1 on", "Y1"), Undocumented],
        change: "A write that ran into others too often takes a turn of its own. Without it, such a write would need a row \
                 that all writes lock in share mode.",
    },
    Feature {
        name: "advisory locks",
        words: &[
            "pg_advisory_lock(",
            "pg_advisory_xact_lock(",
            "pg_advisory_xact_lock_shared(",
            "pg_try_advisory_lock(",
        ],
        phrases: &[],
        support: [Full, Partial("from 2.25.1 on, by a flag", "Y1"), Missing("K1")],
        change: "Migrations run one after the other, each connection owns a shard of the tally, and polls wait for writers of records. CockroachDB has functions \
                 of these names that lock nothing, so counts would be wrong: shards would have to be rows with leases.",
    },
    Feature {
        name: "`LISTEN` and `NOTIFY`",
        words: &["LISTEN", "NOTIFY"],
        phrases: &[],
        support: [Full, Partial("early access from 2025.2.3 on", "Y3"), Missing("K1")],
        change: "Signals to readers on other nodes. Without them, readers look by themselves every 250 ms, which works.",
    },
    Feature {
        name: "numbers of transactions",
        words: &[
            "pg_current_snapshot(",
            "pg_snapshot_xmin(",
            "pg_snapshot_xmax(",
            "pg_current_xact_id(",
            "age(",
        ],
        phrases: &[],
        support: [Partial("those of one node", "C3"), Undocumented, Undocumented],
        change: "Readers who follow the event log use them, so that they do not pass an event that is still being written. \
                 Another database needs a column with the time of the commit, or one writer for each part of the log. \
                 Background tasks compare them to notice commits; without them, they look as often as during writes.",
    },
    Feature {
        name: "exported snapshots",
        words: &["pg_export_snapshot("],
        phrases: &[],
        support: [Partial("of one node", "C3"), Undocumented, Undocumented],
        change: "Backups use one for all tables. Use the backup of the database itself instead.",
    },
    Feature {
        name: "messages in the write-ahead log",
        words: &["pg_logical_emit_message("],
        phrases: &[],
        support: [Full, Undocumented, Undocumented],
        change: "`/ready` writes one to check the disk. Another database needs a row that is updated.",
    },
    Feature {
        name: "positions of a standby",
        words: &[
            "pg_is_in_recovery(",
            "pg_last_wal_replay_lsn(",
            "pg_current_wal_lsn(",
            "pg_control_system(",
            "pg_control_checkpoint(",
            "pg_walfile_name(",
            "pg_stat_wal_receiver",
            "bit(",
            "host(",
            "inet_server_addr(",
            "inet_server_port(",
        ],
        phrases: &[],
        support: [Partial("of one node", "C3"), Undocumented, Undocumented],
        change: "The delay of a read replica. Leave `store.read_replica` empty; these databases have reads from followers of \
                 their own.",
    },
    Feature {
        name: "numbers in the order of insertion",
        words: &["ROWID", "nextval(", "pg_get_serial_sequence(", "setval("],
        phrases: &[],
        support: [Partial("each node numbers for itself", "C1"), Undocumented, Undocumented],
        change: "Lists are in the order of insertion, and the event log is followed by number. Where nodes take numbers in \
                 blocks, that order is lost: lists would need a time beside the number.",
    },
    Feature {
        name: "unique keys",
        words: &["UNIQUE", "PRIMARY"],
        phrases: &[],
        support: [Partial("must contain the distribution column", "C2"), Full, Full],
        change: "A `sourcedId` is unique in the whole server. On Citus, it would be unique within an organization only, or the \
                 table stays undistributed.",
    },
    Feature {
        name: "foreign keys",
        words: &["REFERENCES"],
        phrases: &[],
        support: [Partial("must contain the distribution column", "C2"), Full, Full],
        change: "Accounts, sessions and badges have them. These tables are small enough to stay undistributed.",
    },
    Feature {
        name: "`ON CONFLICT`",
        words: &["CONFLICT"],
        phrases: &[],
        support: [Partial("on keys with the distribution column", "C2"), Full, Full],
        change: "Rows that may exist already. On Citus, the same holds as for unique keys.",
    },
    Feature {
        name: "`INSERT` from a query",
        words: &[],
        phrases: &["INSERT INTO … SELECT "],
        support: [Partial("between tables distributed alike", "C1"), Full, Full],
        change: "The tables on both sides need the same distribution column.",
    },
    Feature {
        name: "correlated subqueries",
        words: &["EXISTS", "LATERAL"],
        phrases: &[],
        support: [Partial("by the distribution column", "C1"), Full, Full],
        change: "Lists within a reach, and joins by ranges of the event log. On Citus, both sides need the distribution column, \
                 or the inner one is a reference table.",
    },
    Feature {
        name: "recursive queries",
        words: &["RECURSIVE"],
        phrases: &[],
        support: [Partial("in queries of one shard", "C1"), Full, Full],
        change: "The tree of organizations, which can be a reference table, and the days of a person's facts. On Citus, name \
                 the days one by one.",
    },
    Feature {
        name: "division of whole numbers",
        words: &[],
        phrases: &[" / "],
        support: [Full, Full, Missing("K1")],
        change: "CockroachDB answers a decimal number. Write `//` there, or shift.",
    },
    Feature {
        name: "order by bytes",
        words: &["COLLATE"],
        phrases: &[],
        support: [Full, Full, Partial("many functions refuse such texts", "K4")],
        change: "All columns of text have it. CockroachDB orders texts by bytes without it.",
    },
    Feature {
        name: "maintenance of one table",
        words: &["VACUUM", "ANALYZE", "STORAGE", "EXTERNAL"],
        phrases: &[],
        support: [Full, Undocumented, Undocumented],
        change: "Freed rows and the storage of packed events. These statements can be left out.",
    },
];

/// Keywords and functions that all three support as PostgreSQL does.
pub(super) const PLAIN: &[&str] = &[
    "ADD ALL ALTER AND ANY ARRAY AS ASC BEGIN BETWEEN BIGINT BLOB BY BYTEA CASE CAST COALESCE COLUMN COMMIT COPY COUNT CREATE",
    "CROSS CURRENT DEFAULT DELETE DESC DISTINCT DO DOUBLE DROP ELSE END ESCAPE EXCEPT EXCLUSIVE FALSE FOR FORMAT FROM FULL",
    "GENERATED GREATEST GROUP HAVING IDENTITY IF IN INDEX INNER INSERT INTEGER INTO IS ISOLATION JOIN KEY LAST LEAST LEFT",
    "LEVEL LIKE LIMIT LOCAL LOCKED MATERIALIZED MAX MIN MODE NO NOT NOTHING NULL NULLS OFFSET ON ONLY OR ORDER OVER PARTITION",
    "PRECISION READ REAL RENAME REPLACE RETURNING ROLLBACK ROW ROW_NUMBER ROWS SELECT SET SHARE SKIP STDIN SUM TABLE TEXT THEN TO",
    "TRUE UNION UPDATE USING VALUES WHEN WHERE WITH WRITE ABS EXCLUDED FILTER FIRST AT INTERVAL TIME ZONE",
    "array( any( cast( clock_timestamp( coalesce( count( current_database( current_schema( current_setting( extract(",
    "generate_series( json_array_elements_text( json_typeof( length( lower( max( min( pg_backend_pid(",
    "pg_database_size( pg_table_size( replace( set_config( strpos( substr( sum( to_char( to_regclass( unnest( upper( abs(",
    "round(",
];
