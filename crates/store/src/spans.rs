//! Spans of transactions, for traces. Transactions have no span outside of a request or job that is traced.

use lyceum_core::{Problem, ProblemKind, TRACE_TARGET};
use tracing::Span;
use tracing::field::Empty;
use tracing::level_filters::LevelFilter;

use crate::SqlDialect;

/// The span of a transaction that the current request or job begins.
pub(crate) fn transaction(dialect: SqlDialect, operation: &'static str) -> Span {
    // The comparison is all that a transaction costs if traces are not sent.
    if LevelFilter::current() < LevelFilter::TRACE || Span::current().is_none() {
        return Span::none();
    }
    let system = match dialect {
        SqlDialect::Sqlite => "sqlite",
        SqlDialect::Postgres => "postgresql",
    };
    tracing::trace_span!(
        target: TRACE_TARGET,
        "transaction",
        otel.name = operation,
        otel.kind = "client",
        otel.status_code = Empty,
        db.system.name = system,
        db.operation.name = operation,
        "error.type" = Empty,
    )
}

/// Records the failure of a transaction. A refused request does not count as one.
pub(crate) fn fail(span: &Span, problem: &Problem) {
    if matches!(problem.kind, ProblemKind::Internal | ProblemKind::Unavailable) {
        span.record("otel.status_code", "ERROR");
        span.record("error.type", tracing::field::debug(problem.kind));
    }
}
