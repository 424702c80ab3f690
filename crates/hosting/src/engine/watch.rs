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
/// backend's only thread. If no answer comes, its code still computes. A process that serves nothing and computes
/// nothing needs no pulse, which would keep it from being idle.
pub(super) async fn watch(
    process: Arc<Process>,
    settings: EngineSettings,
    pulse: Arc<Connections>,
) -> ! {
    let mut before = None;
    loop {
        sleep(Duration::from_millis(BACKEND_PULSE_MS)).await;
        let now = cpu_ticks(process.id());
        let is_idle = !process.is_serving() && now.is_some() && now == before;
        before = now;
        if !is_idle && timeout(settings.busy_timeout, send_pulse(&pulse)).await.is_err() {
            process.kill(ProcessEnd::Busy);
        } else if !is_idle && memory_bytes(process.id()) > settings.memory_bytes {
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

/// The time that the process has computed, in hundredths of a second; `None` if the system does not report it.
fn cpu_ticks(id: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program is in parentheses and may contain spaces.
    let mut numbers = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || numbers.next()?.parse::<u64>().ok();
    Some(ticks()? + ticks()?)
}

/// Bytes of memory that the process uses; 0 if the system does not report it.
fn memory_bytes(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = resident.and_then(|text| text.trim().strip_suffix("kB")?.trim().parse().ok());
    kibibytes.unwrap_or(0u64) * 1024
}
