//! The complete server: it joins the API, the pages and the cluster, and runs the work beside requests.
//!
//! | what | where |
//! |---|---|
//! | assembling, running and stopping a server | `server` |
//! | all routes, and the API document of them | `routes` |
//! | metrics, and the listener for them; sending them and traces to a collector | `metrics`, `telemetry` |
//! | limits | `limits` |

pub mod limits;
mod metrics;
pub mod routes;
mod server;
pub mod telemetry;

pub use server::{Server, stop_signal};
