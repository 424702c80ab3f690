//! `lyceum dev`, as a developer of a backend sees it.

use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_testserver::client::TestClient;
use serde_json::Value;

use crate::deploy::project;
use crate::transcript::Place;
use crate::typing::Typing;

#[test]
fn each_save_of_a_backend_is_served_beside_a_sandbox() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new().with("XDG_RUNTIME_DIR", folder.path().to_str().unwrap());
    project(&place);
    let mut dev = Typing::start(&place, "dev --port 0");
    dev.sees("Backend of 'word-rivers' on http://localhost:");
    let port = dev.sees("/api").replace("/api", "");
    dev.sees("Sandbox   http://");
    let sandbox = dev.sees("\r\n").trim().to_owned();
    dev.sees("ready in ");
    for route in ["/api/hello", "/api/users/:id"] {
        let line = dev.sees(route);
        assert!(line.contains("GET "), "{line}");
    }
    let backend = TestClient::new(format!("http://127.0.0.1:{port}"));
    let says = || backend.get("/api/hello").expect(200).json::<Value>()["says"].clone();
    assert_eq!(says(), "Hello you");
    dev.sees("GET /api/hello 200 OK (");
    let index: Value = backend.get("/api").expect(200).json();
    assert_eq!(index["routes"].as_array().unwrap().len(), 2, "{index}");
    backend.get("/health").expect(200);
    let beside = TestClient::new(format!("http://{sandbox}"));
    beside.get("/health").expect(200);

    place.write("server/greet.ts", "export const greet = (name: string) => `Hi ${name}`;\n");
    dev.sees("reloaded in ");
    assert_eq!(says(), "Hi you");
    place.write("server/greet.ts", "export const greet = ;\n");
    dev.sees("the last change is not served: ");
    assert_eq!(says(), "Hi you");

    let (code, screen) = dev.interrupt().end();
    assert_eq!(code, 0, "{screen}");
    stops_answering(&sandbox);
    end_with_the_terminal(&place);
}

/// The backend and its sandbox end with the terminal, too.
fn end_with_the_terminal(place: &Place) {
    place.write("server/greet.ts", "export const greet = (name: string) => `Hi ${name}`;\n");
    let mut dev = Typing::start(place, "dev --port 0");
    dev.sees("Backend of 'word-rivers' on http://");
    let backend = dev.sees("/api").replace("/api", "");
    dev.sees("Sandbox   http://");
    let sandbox = dev.sees("\r\n").trim().to_owned();
    dev.sees("ready in ");
    for address in [&backend, &sandbox] {
        TestClient::new(format!("http://{address}")).get("/health").expect(200);
    }
    dev.close();
    stops_answering(&backend);
    stops_answering(&sandbox);
}

#[test]
#[ignore = "rest"]
fn backends_that_start_at_the_same_moment_have_their_own_sandboxes() {
    let places = [(); 3].map(|()| {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::new().with("XDG_RUNTIME_DIR", folder.path().to_str().unwrap());
        project(&place);
        (place, folder)
    });
    let backends = places.each_ref().map(|(place, _)| Typing::start(place, "dev --port 0"));
    let backends = backends.map(|mut dev| {
        dev.sees("Sandbox   http://");
        (dev.sees("\r\n").trim().to_owned(), dev)
    });
    for (sandbox, _) in &backends {
        TestClient::new(format!("http://{sandbox}")).get("/health").expect(200);
        assert_eq!(backends.iter().filter(|(other, _)| other == sandbox).count(), 1, "{sandbox}");
    }
    for (_, mut dev) in backends {
        let (code, screen) = dev.interrupt().end();
        assert_eq!(code, 0, "{screen}");
    }
}

#[test]
fn ctrl_c_while_the_config_is_evaluated_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new().with("XDG_RUNTIME_DIR", folder.path().to_str().unwrap());
    project(&place);
    place.write("lyceum.config.js", "for (let i = 0; i < 2e9; i++);\nexport default {};\n");
    let mut dev = Typing::start(&place, "dev --port 0 --no-sandbox");
    dev.sees("Sandbox   none");
    // Ctrl-C reaches the runtime that evaluates the config, too.
    sleep(Duration::from_millis(300));
    let (code, screen) = dev.interrupt().end();
    assert_eq!(code, 0, "{screen}");
}

/// Waits until no server answers at an address. A server of another test may have taken the port for a moment.
fn stops_answering(address: &str) {
    let since = Instant::now();
    while ureq::get(format!("http://{address}/health")).call().is_ok() {
        assert!(since.elapsed() < Duration::from_secs(10), "{address} still answers");
        sleep(Duration::from_millis(20));
    }
}
