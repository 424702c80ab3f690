//! The log of a running server, on standard error.

use std::io::{self, IsTerminal};

use lyceum_core::config::{self, LogFormat};
use tracing_subscriber::EnvFilter;

use crate::failure::{Code, Failure, Result};

/// Starts logging. Errors: `server.log_level` is not a level or a list of directives.
pub(crate) fn start(loaded: &config::LoadedConfig) -> Result<()> {
    let server = &loaded.config.server;
    let filter = EnvFilter::builder().parse(&server.log_level).map_err(|error| {
        let origin = loaded.origin("server.log_level");
        let message = format!("{origin}: 'server.log_level': {error}");
        Failure::new(Code::Usage, message).hint(
            "use error, warn, info, debug or trace, or directives such as info,lyceum_store=debug",
        )
    })?;
    lyceum_store::log_slow_statements(loaded.config.store.slow_statement_ms);
    // The default reports a failed write on standard error, and panics because that fails too.
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .log_internal_errors(false);
    match server.log_format {
        LogFormat::Json => log.json().flatten_event(true).init(),
        LogFormat::Text => {
            log.with_ansi(io::stderr().is_terminal() && !config::no_color()).init();
        }
    }
    Ok(())
}
