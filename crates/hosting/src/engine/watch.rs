//! The watchdog of a process: checks that it is alive, not too large, and still needed.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use tokio::time::{sleep, timeout};

use super::connections::{BoxError, Connections, boxed};
use super::process::{Process, ProcessEnd};
use super::settings::EngineSettings;
use crate::limits::BACKEND_PULSE_MS;

/// Ends the process if it hangs, is too large or is idle. Never returns.
///
/// The pulse is a request that the runtime only forwards. It runs none of the backend's code, but it waits for the
/// backend's only thread. If there is no answer, JavaScript did not pause.
pub(super) async fn watch(
    process: Arc<Process>,
    settings: EngineSettings,
    pulse: Arc<Connections>,
) -> ! {
    loop {
        sleep(Duration::from_millis(BACKEND_PULSE_MS)).await;
        if timeout(settings.busy_timeout, send_pulse(&pulse)).await.is_err() {
            process.kill(ProcessEnd::Busy);
        } else if memory_bytes(process.id()) > settings.memory_bytes {
            process.kill(ProcessEnd::Memory);
        } else if process.close_if_idle(settings.idle_timeout) {
            process.kill(ProcessEnd::Unneeded);
        }
    }
}

async fn send_pulse(pulse: &Arc<Connections>) -> Result<(), BoxError> {
    let request = Request::builder().uri("/").header("host", "pulse");
    let request = boxed(request.body(Empty::<Bytes>::new()).expect("the request is valid"));
    pulse.send(request, ()).await?.into_body().collect().await?;
    Ok(())
}

/// Bytes of memory that the process uses; 0 if the system does not report it.
fn memory_bytes(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = resident.and_then(|text| text.trim().strip_suffix("kB")?.trim().parse().ok());
    kibibytes.unwrap_or(0u64) * 1024
}
