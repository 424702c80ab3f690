//! The log of a running server, on standard error.

use std::io::{self, IsTerminal};

use lyceum_core::config::{self, LoadedConfig, LogFormat, ServerSettings};
use lyceum_server::telemetry::Telemetry;
use tracing::Subscriber;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt, registry};

use crate::failure::{Code, Failure, Result};

/// Starts logging, and making spans of traces if they are sent. Errors: `server.log_level` is not a level or a list of
/// directives.
pub(crate) fn start(loaded: &LoadedConfig, telemetry: Option<&Telemetry>) -> Result<()> {
    let server = &loaded.config.server;
    let filter = EnvFilter::builder().parse(&server.log_level).map_err(|error| {
        let origin = loaded.origin("server.log_level");
        let message = format!("{origin}: 'server.log_level': {error}");
        Failure::new(Code::Usage, message).hint(
            "use error, warn, info, debug or trace, or directives such as info,lyceum_store=debug",
        )
    })?;
    lyceum_store::log_slow_statements(loaded.config.store.slow_statement_ms);
    match telemetry {
        // The filter is of the log alone, which therefore names no spans.
        Some(telemetry) => {
            registry().with(log(server).with_filter(filter)).with(telemetry.layer()).init();
        }
        None => registry().with(filter).with(log(server)).init(),
    }
    Ok(())
}

fn log<S>(server: &ServerSettings) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    // The default reports a failed write on standard error, and panics because that fails too.
    let log = fmt::layer().with_writer(io::stderr).log_internal_errors(false);
    match server.log_format {
        LogFormat::Json => log.json().flatten_event(true).boxed(),
        LogFormat::Text => log.with_ansi(io::stderr().is_terminal() && !config::no_color()).boxed(),
    }
}
