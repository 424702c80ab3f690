//! Sets how long a thread may run before another thread that wakes replaces it. Linux lets a process choose since
//! 6.12.
//!
//! A thread that wakes takes the core at once from a thread with a longer slice. From other threads it takes the core
//! when their slice is over, which Linux usually checks every four milliseconds. So threads that answer requests have
//! the shortest slice, and the code of a backend has a longer one. Everything else in a backend's process, such as
//! start and compilation, has the default slice. No privilege is needed, and everything works if the system refuses.

use std::time::Duration;

/// Slice of a thread that answers requests: the shortest that Linux accepts.
const ANSWERING: Duration = Duration::from_micros(100);
/// Slice of the thread that runs a backend's code.
const BACKEND: Duration = Duration::from_micros(300);

/// Gives the calling thread, which answers requests, precedence over all backends.
pub fn use_answering_slice() {
    set(0, ANSWERING);
}

/// Gives the calling thread the default slice. Threads and processes that it starts inherit it.
pub(super) fn use_default_slice() {
    // Zero selects Linux's default.
    set(0, Duration::ZERO);
}

/// Makes the first thread of a backend's process, which runs its code, yield sooner than other programs would.
pub(super) fn use_backend_slice(process: u32) {
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
