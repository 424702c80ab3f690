//! Generated requests against the program: no server errors, and every answer as documented.

use crate::official;
use crate::python::{argument, run};
use crate::served::{Served, Store, on_both_stores, variable};

on_both_stores!(
    the_official_documents_describe_every_answer,
    our_own_document_describes_every_answer,
);

/// Requests an operation and mode (right or wrong data).
fn examples() -> &'static str {
    match variable("LYCEUM_TEST_SIZE").as_deref() {
        Some("full") => "12",
        _ => "2",
    }
}

fn the_official_documents_describe_every_answer(store: Store) {
    let Some(folder) = official::folder("requests from the 4 official documents") else { return };
    let mut files: Vec<_> = official::SERVICES.iter().map(|s| folder.join(s.file)).collect();
    files.push(folder.join("../case/case-v1p1-openapi3.json"));
    let served = seeded(store);
    let key = served.client("standard", &[]);
    let mut more = vec!["--examples", examples()];
    more.extend(files.iter().map(|file| argument(file)));
    println!("{}", run(&served, &key, "fuzz", "api_fuzz.py", &more));
}

fn our_own_document_describes_every_answer(store: Store) {
    let served = seeded(store);
    let key = served.client("platform", &[]);
    let document = format!("{}/openapi.json", served.base);
    let more = ["--examples", examples(), &document];
    println!("{}", run(&served, &key, "fuzz", "api_fuzz.py", &more));
}

/// A server on a small school network.
fn seeded(store: Store) -> Served {
    let served = Served::start(store);
    let network = served.file("network.zip");
    served.run(&[
        "demo",
        "generate",
        "--students",
        "40",
        "--seed",
        "1",
        "--out",
        argument(&network),
    ]);
    served.run(&["import", argument(&network)]);
    served
}
