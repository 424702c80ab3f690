//! Safety of projects: zips with links outside or zip bombs, secrets at rest, and slugs of other owners.

use std::io::{Cursor, Write};

use lyceum_access::{Role, person};
use lyceum_hosting::limits;
use lyceum_store::StoreLocation;
use lyceum_testkit::full_size;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::json;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::enrolling::get;
use crate::game_tokens::playground;
use crate::people;
use crate::projects::{artifact, build, deploy, plan, send, state, upload, wanted};

/// A zip whose page is a link to a file of the host.
fn link() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_symlink("index.html", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// A zip of little more than a mebibyte, whose content is one byte larger than the limit of frontends.
fn bomb() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("index.html", SimpleFileOptions::default()).unwrap();
    let zeros = vec![0; 1024 * 1024];
    for _ in 0..limits::FRONTEND_MAX_BYTES / zeros.len() as u64 {
        zip.write_all(&zeros).unwrap();
    }
    zip.write_all(b"!").unwrap();
    zip.finish().unwrap().into_inner()
}

#[test]
fn a_harmful_zip_is_refused_and_the_served_version_stays() {
    both(|server| {
        let client = server.client();
        deploy(&client, &build("one"), &[]);
        let mut refused = vec![(link(), 422, "symbolic link")];
        // A gibibyte takes half a minute here, and is counted before anything is stored.
        if !full_size() {
            println!("left out: the bomb, at the small size");
        } else if matches!(server.target(), StoreLocation::Sqlite(_)) {
            refused.push((bomb(), 413, "more than"));
        }
        for (zip, status, message) in &refused {
            upload(&client, zip);
            let state = state(&client, "rivers");
            let reply = send(&client, &plan(&state, &wanted(&state, zip, &[])), &[]);
            assert_eq!(reply.status, *status, "{}", reply.text());
            assert!(reply.text().contains(message), "{}", reply.text());
        }
        assert_eq!(state(&client, "rivers").version, Some(1));
        assert_eq!(server.anonymous().get("/_projects/rivers/").expect(200).text(), "one");
    });
}

#[test]
fn secrets_are_sealed_in_the_store() {
    both(|server| {
        deploy(&server.client(), &build("one"), &[("TOKEN", "hunter2")]);
        let kept = server.db().write_blocking(|tx| {
            tx.all("SELECT sealed, digest FROM deployment_secrets", &[], |row| {
                Ok((row.blob(0)?.to_owned(), row.string(1)?))
            })
        });
        let kept = kept.unwrap();
        assert_eq!(kept.len(), 1);
        for (sealed, digest) in kept {
            assert!(
                !sealed.windows(7).any(|part| part == b"hunter2") && !digest.contains("hunter2")
            );
            assert_ne!(digest, artifact(b"hunter2").sha256, "a dictionary does not open it");
        }
    });
}

#[test]
fn a_slug_of_a_game_or_project_is_deployed_only_by_its_owners() {
    both(|server| {
        // Clients may register games before their first deploy, and administrators may add members before it.
        playground(server);
        let [grace, mallory] = ["grace@example.org", "mallory@example.org"]
            .map(|email| people::let_in(server, email, Role::Developer));
        let join = |slug: &str| {
            let joined = server.db().write_blocking(|tx| {
                let grace = person::require(tx, "grace@example.org")?;
                lyceum_access::join(tx, slug, &grace.id)
            });
            joined.unwrap();
        };
        let zip = build("mine");
        upload(&mallory, &zip);
        let deployed = |client: &TestClient, slug: &str| {
            let state = state(&server.client(), slug);
            send(client, &plan(&state, &wanted(&state, &zip, &[])), &[]).status
        };
        join("lakes");
        for slug in ["rivers", "lakes"] {
            mallory.get(&format!("/api/projects/{slug}/state")).expect(403);
            assert_eq!(deployed(&mallory, slug), 403, "{slug}");
        }
        let lakes = json!({ "slug": "lakes", "displayName": "Lakes" });
        mallory.post("/api/games").json(&lakes).expect(403);
        // She is not a member of the project that she tried to take, so she cannot reach its players or name.
        mallory.post("/api/games/rivers/token").json(&json!({ "userId": "ann" })).expect(403);
        assert_eq!(get(&server.client(), "/api/games/rivers")["displayName"], "Rivers");

        join("rivers");
        assert_eq!((deployed(&grace, "rivers"), deployed(&grace, "lakes")), (201, 201));
        assert_eq!(deployed(&mallory, "ponds"), 201, "what nobody has is its maker's");
    });
}
