//! Callers who mean harm, and what others notice of them: each test attacks the program as it is shipped from
//! outside and looks at its memory, and at how long another caller waits meanwhile.
//!
//! A caller without a token must not make the server take more than 64 MB beyond two password hashes and
//! 16 KB for each open connection. `LYCEUM_TEST_SIZE=full` attacks with more.

mod backends;
mod bodies;
mod connections;
mod documents;
mod heads;
mod http1;
mod http2;
mod streams;
mod target;
mod tls;

/// A number for the usual run and one for the full size.
fn sized(usual: usize, full: usize) -> usize {
    if lyceum_testkit::full_size() { full } else { usual }
}
