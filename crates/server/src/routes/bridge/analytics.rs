//! What students did, added up by day, subject and app.

use crate::route::Route;

pub(super) fn routes() -> Vec<Route> {
    Vec::new()
}
