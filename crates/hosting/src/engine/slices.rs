//! How long a thread computes before another one that wakes may go first, where Linux lets a process choose (6.12).
//!
//! A thread that wakes takes the core at once from one of a longer slice, and from any other when its slice is over,
//! which Linux notices at a tick: every four milliseconds, as it is mostly built. So threads that answer requests have
//! the shortest slice, the code of a backend a longer one, and what else a backend's process does, such as starting and
//! compiling, that of every other program. Nothing here needs a right, and where the system refuses, all runs as well.

use std::time::Duration;

/// Of a thread that answers requests: the shortest that Linux takes.
const ANSWERING: Duration = Duration::from_micros(100);
/// Of the thread that runs a backend's code.
const BACKEND: Duration = Duration::from_micros(300);

/// Lets the calling thread, which answers requests, go before all that backends do.
pub fn go_first() {
    set(0, ANSWERING);
}

/// Makes the calling thread, and what it starts, like every other program: threads and processes take after the
/// thread that started them.
pub(super) fn go_as_others() {
    // Zero is what Linux itself has chosen.
    set(0, Duration::ZERO);
}

/// Lets the first thread of a backend's process, which runs its code, give way to its neighbours sooner than
/// every other program would.
pub(super) fn go_as_backend(process: u32) {
    set(process, BACKEND);
}

#[cfg(target_os = "linux")]
fn set(thread: u32, slice: Duration) {
    let thread = thread.cast_signed();
    if let Ok(mut attributes) = uapi::sched_getattr(thread, 0) {
        attributes.sched_runtime = u64::try_from(slice.as_nanos()).unwrap_or_default();
        let _ = uapi::sched_setattr(thread, &attributes, 0);
    }
}

#[cfg(not(target_os = "linux"))]
fn set(_thread: u32, _slice: Duration) {}
