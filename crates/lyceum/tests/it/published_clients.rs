//! The published Python clients against the program: every operation, on both stores, and once more
//! after a restart.

use crate::python::{argument, run};
use crate::served::{Served, Store, on_both_stores};

on_both_stores!(
    the_published_client_uses_every_operation_of_every_service,
    the_published_client_of_events_uses_every_operation,
    the_older_published_client_uses_every_operation,
    the_published_bridge_client_enrolls_leads_and_reports,
    the_published_qti_client_stores_scores_and_checks,
    the_published_qti_client_edits_tests,
    the_published_powerpath_client_uses_every_operation,
    the_published_clr_client_uses_every_operation,
    the_published_case_client_uses_every_operation,
);

fn the_published_client_uses_every_operation_of_every_service(store: Store) {
    twice(store, "oneroster_client.py");
}

fn the_published_client_of_events_uses_every_operation(store: Store) {
    twice(store, "caliper_client.py");
}

fn the_older_published_client_uses_every_operation(store: Store) {
    twice(store, "legacy_client.py");
}

fn the_published_bridge_client_enrolls_leads_and_reports(store: Store) {
    twice(store, "edubridge_client.py");
}

fn the_published_qti_client_stores_scores_and_checks(store: Store) {
    twice(store, "qti_client.py");
}

fn the_published_qti_client_edits_tests(store: Store) {
    twice(store, "qti_tests.py");
}

fn the_published_powerpath_client_uses_every_operation(store: Store) {
    twice(store, "powerpath_client.py");
}

fn the_published_clr_client_uses_every_operation(store: Store) {
    twice(store, "clr_client.py");
}

fn the_published_case_client_uses_every_operation(store: Store) {
    twice(store, "case_client.py");
}

/// Writes and reads, then reads again from a server that was restarted on the same data.
fn twice(store: Store, script: &str) {
    let mut served = Served::start(store);
    let key = served.client("platform", &[]);
    let state = served.file("state.json");
    for (phase, restart) in [("write", true), ("read", false)] {
        let more = ["--phase", phase, "--state", argument(&state)];
        let summary = run(&served, &key, "clients", script, &more);
        println!("{script}, {phase}: {summary}");
        if restart {
            served = served.restart();
        }
    }
}
