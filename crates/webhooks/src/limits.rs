//! The limits of webhooks: each a constant with its unit.

// # Webhooks

/// Webhooks of a server at most.
pub const WEBHOOKS_MAX_COUNT: i64 = 10_000;
/// Filters of one webhook at most.
pub const WEBHOOK_FILTERS_MAX_COUNT: i64 = 100;
/// Hours after which a delivery that still waits is dead.
pub const WEBHOOK_WAIT_MAX_H: i64 = 72;
/// Hours that the log has a successful delivery.
pub const WEBHOOK_DELIVERED_KEPT_H: i64 = 24;
/// Days for which the log has a dead delivery.
pub const WEBHOOK_DEAD_KEPT_DAYS: i64 = 30;

// # Internal

/// Characters of the address of a webhook's target at most.
pub const WEBHOOK_URL_MAX_CHARS: usize = 2048;
/// Characters of a webhook's secret at most.
pub const WEBHOOK_SECRET_MAX_CHARS: usize = 1024;
/// Characters of another text of a webhook or a filter at most.
pub const WEBHOOK_TEXT_MAX_CHARS: usize = 2048;
/// Bytes of a compiled regular expression of a filter at most.
pub const WEBHOOK_REGEXP_MAX_BYTES: usize = 256 * 1024;
/// Sensors of webhooks whose events alone reach the outbox at most; with more, events of all sensors do.
pub const WEBHOOK_TOPIC_SENSORS_MAX_COUNT: usize = 16;
/// Changes that become deliveries in one transaction at most.
pub const WEBHOOK_BATCH_MAX_RECORDS: i64 = 500;
/// Seconds after which a server may take over sending from one that no longer answers.
pub const WEBHOOK_SENDER_LEASE_S: i64 = 10;
/// Deliveries that one transaction of the retention removes at most.
pub const WEBHOOK_FORGET_MAX_RECORDS: i64 = 1000;
/// Deliveries on a page of the delivery log at most.
pub const WEBHOOK_LOG_PAGE_MAX_RECORDS: i64 = 500;
/// Bytes of the reason of a failed delivery at most.
pub const WEBHOOK_ERROR_MAX_BYTES: usize = 500;
/// Deliveries of one webhook that are sent at once at most.
pub const WEBHOOK_AT_ONCE_MAX_COUNT: usize = 16;
