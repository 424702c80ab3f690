//! Generated requests against the program: no server errors, and every answer as documented.

use crate::official;
use crate::python::{argument, run};
use crate::served::{Served, Store, rest_on_both_stores, variable};

rest_on_both_stores!(
    the_official_documents_describe_every_answer,
    our_own_document_describes_every_answer,
);

/// How many requests an operation and mode (right or wrong data), and which operations: where every
/// minute counts, each store is asked another quarter of them.
fn arguments(store: &Store) -> [&'static str; 4] {
    let is_full = variable("LYCEUM_TEST_SIZE").as_deref() == Some("full");
    let (examples, part) = match store {
        _ if is_full => ("12", "1/1"),
        Store::Sqlite => ("1", "1/4"),
        Store::Postgres(_) => ("1", "3/4"),
    };
    ["--examples", examples, "--part", part]
}

fn the_official_documents_describe_every_answer(store: Store) {
    let Some(folder) = official::folder("requests from the 4 official documents") else { return };
    let mut files: Vec<_> = official::SERVICES.iter().map(|s| folder.join(s.file)).collect();
    files.push(folder.join("../case/case-v1p1-openapi3.json"));
    let mut more = arguments(&store).to_vec();
    let served = seeded(store);
    let key = served.client("standard", &[]);
    more.extend(files.iter().map(|file| argument(file)));
    println!("{}", run(&served, &key, "fuzz", "api_fuzz.py", &more));
}

fn our_own_document_describes_every_answer(store: Store) {
    let mut more = arguments(&store).to_vec();
    let served = seeded(store);
    let key = served.client("platform", &[]);
    let document = format!("{}/openapi.json", served.base);
    more.push(&document);
    println!("{}", run(&served, &key, "fuzz", "api_fuzz.py", &more));
}

/// A server on a small school network.
fn seeded(store: Store) -> Served {
    let served = Served::start(store);
    let network = served.file("network.zip");
    served.run(&[
        "demo",
        "generate",
        "--complete",
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
