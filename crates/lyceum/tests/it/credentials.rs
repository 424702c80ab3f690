//! Badges and learner records as others see them: the official schemas, an implementation that is not
//! ours, and a browser.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::Http;
use crate::official;
use crate::served::{Served, Store, on_both_stores, root, target, wait};

on_both_stores!(
    served_credentials_agree_with_the_official_schemas,
    another_implementation_verifies_issued_and_refuses_revoked_credentials,
    a_browser_shows_the_page_of_a_badge,
);

const PROGRAM_MAX: Duration = Duration::from_mins(2);

/// A client of a server with a school, a student and a badge that can be earned.
fn school(served: &Served) -> Http {
    let http = Http::sign_in(&served.base, &served.client("platform", &[]), None);
    let rostering = "/ims/oneroster/rostering/v1p2";
    let org = json!({"org": {"sourcedId": "s", "name": "School", "type": "school"}});
    send(&http, "post", &format!("{rostering}/schools"), org, 201);
    let user = json!({"user": {
        "sourcedId": "ada", "enabledUser": true, "givenName": "Ada", "familyName": "Family", "email": "ada@example.org",
        "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s"}}],
    }});
    send(&http, "post", &format!("{rostering}/users"), user, 201);
    let definition = json!({
        "@context": ["https://www.w3.org/2018/credentials/v1", "https://purl.imsglobal.org/spec/ob/v3p0/context.json"],
        "id": "https://example.org/badges/1", "type": ["VerifiableCredential", "OpenBadgeCredential"],
        "issuer": "https://example.org/issuers/1", "name": "Math Master", "description": "Masters mathematics",
        "image": {"id": "https://example.org/badges/1.png", "type": "Image"},
        "credentialSubject": {
            "id": "https://example.org/achievements/1", "type": ["Achievement"], "name": "Math Master",
            "description": "Masters mathematics", "criteria": {"narrative": "Answer every question"},
        },
    });
    send(&http, "post", "/ims/ob/v3p0/credentials/", definition, 201);
    http
}

fn send(http: &Http, method: &str, path: &str, body: Value, status: u16) -> Value {
    let answer = http.send(method, path, Some(body));
    assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
    answer.json()
}

fn get(http: &Http, path: &str) -> Value {
    let answer = http.send("get", path, None);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.json()
}

fn awarded(http: &Http, day: &str) -> Value {
    let award = json!({"achievementId": "https://example.org/achievements/1", "userId": "ada", "awardedDate": format!("{day}T08:00:00Z")});
    send(http, "post", "/ims/ob/v3p0/issue-badge/", award, 201)
}

/// The path of an address of the server.
fn path<'a>(served: &Served, address: &'a Value) -> &'a str {
    address.as_str().unwrap().strip_prefix(served.base.as_str()).unwrap()
}

/// The last part of a credential's address, by which it is read.
fn short(credential: &Value) -> &str {
    credential["id"].as_str().unwrap().rsplit('/').next().unwrap()
}

fn record(served: &Served) -> Value {
    json!({
        "@context": ["https://www.w3.org/2018/credentials/v1", "https://purl.imsglobal.org/spec/clr/v2p0/context.json"],
        "id": "https://example.org/clr/1", "type": ["VerifiableCredential", "ClrCredential"],
        "issuer": {"id": "https://example.org/issuers/1", "name": "Example School"},
        "credentialSubject": {
            "id": format!("{}/ims/oneroster/rostering/v1p2/users/ada", served.base), "type": ["LearnerProfile"],
            "achievement": [{"id": "https://example.org/achievements/2", "type": ["Achievement"], "name": "Algebra", "description": "Masters algebra"}],
        },
    })
}

/// Panics where the value does not fit the official schema of that name.
fn fits(folder: &Path, schema: &str, value: &Value) {
    let text = std::fs::read_to_string(folder.join(schema)).unwrap();
    let schema_text: Value = serde_json::from_str(&text).unwrap();
    let validator =
        jsonschema::options().should_validate_formats(true).build(&schema_text).unwrap();
    let faults: Vec<_> = validator
        .iter_errors(value)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{schema}: {faults:#?}\n{value:#}");
}

fn served_credentials_agree_with_the_official_schemas(store: Store) {
    let Some(oneroster) = official::folder("the schemas of Open Badges and CLR") else { return };
    let standards = oneroster.parent().unwrap();
    let (badges, records) = (standards.join("openbadges/schema"), standards.join("clr/schema"));
    let served = Served::start(store);
    let http = school(&served);
    let badge = awarded(&http, "2026-01-15");
    fits(&badges, "ob_v3p0_achievementcredential_schema.json", &badge);
    let listed = get(&http, "/ims/ob/v3p0/credentials");
    fits(&badges, "ob_v3p0_getopenbadgecredentialsresponse_schema.json", &listed);
    fits(&badges, "ob_v3p0_profile_schema.json", &get(&http, "/ims/ob/v3p0/profile"));
    let standard = Http::sign_in(&served.base, &served.client("standard", &[]), None);
    let refused = send(&standard, "post", "/ims/ob/v3p0/credentials", json!({}), 422);
    fits(&badges, "ob_v3p0_imsx_statusinfo_schema.json", &refused);

    let created = send(&http, "post", "/ims/clr/v2p0/credentials/", record(&served), 201);
    fits(&records, "clr_v2p0_clrcredential_schema.json", &created);
    let compiled = send(&http, "post", "/clr/ada/compile", json!({}), 201);
    fits(&records, "clr_v2p0_clrcredential_schema.json", &compiled);
    for credential in compiled["credentialSubject"]["verifiableCredential"].as_array().unwrap() {
        fits(&records, "clr_v2p0_achievementcredential_schema.json", credential);
    }
    let listed = get(&http, "/ims/clr/v2p0/credentials");
    fits(&records, "clr_v2p0_getclrcredentialsresponse_schema.json", &listed);
    fits(&records, "clr_v2p0_profile_schema.json", &get(&http, "/ims/clr/v2p0/profile"));
}

/// The verdict of `@digitalbazaar/vc` on a credential of the server.
fn report_of_another_verifier(served: &Served, credential: &Value) -> Value {
    let file = served.file("credential.json");
    std::fs::write(&file, credential.to_string()).unwrap();
    let mut script = Command::new("python3");
    script
        .arg(root().join("tests/verifiers/bootstrap.py"))
        .args([&target().join("verifiers"), Path::new("served.mjs")])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(&served.base)
        .arg(root().join("crates/credentials/contexts"))
        .arg(file);
    serde_json::from_str(&finished(script, served)).unwrap()
}

/// The output of a program. Panics if it fails or takes too long.
fn finished(mut program: Command, served: &Served) -> String {
    let (output, errors) = (served.file("program.out"), served.file("program.err"));
    let file = |path: &PathBuf| std::fs::File::create(path).unwrap();
    let mut process = program
        .stdin(Stdio::null())
        .stdout(file(&output))
        .stderr(file(&errors))
        .spawn()
        .unwrap_or_else(|fault| panic!("{program:?}: {fault}; `cargo xtask test` installs it"));
    let status = wait(&mut process, PROGRAM_MAX);
    if status.is_none() {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
    let printed = read(&output);
    assert!(
        status.is_some_and(|status| status.success()),
        "{program:?}: {status:?}\n{printed}\n{}",
        read(&errors)
    );
    assert!(!read(&errors).contains("CONSOLE"), "the page complains: {}", read(&errors));
    printed
}

fn another_implementation_verifies_issued_and_refuses_revoked_credentials(store: Store) {
    let served = Served::start(store);
    let http = school(&served);
    let badge = awarded(&http, "2026-01-15");
    let other = awarded(&http, "2026-01-16");
    let created = send(&http, "post", "/clr", record(&served), 201);
    let compiled = send(&http, "post", "/clr/ada/compile", json!({}), 201);
    for credential in [&badge, &other, &created, &compiled] {
        let report = report_of_another_verifier(&served, credential);
        assert_eq!(report, json!({"verified": true, "errors": []}), "{credential:#}");
    }
    let mut changed = badge.clone();
    changed["credentialSubject"]["achievement"]["name"] = "Master of everything".into();
    assert_eq!(report_of_another_verifier(&served, &changed)["verified"], false);

    served.run(&["keys", "rotate"]);
    let new = awarded(&http, "2026-01-17");
    assert_ne!(new["proof"]["verificationMethod"], badge["proof"]["verificationMethod"]);
    for credential in [&badge, &new] {
        assert_eq!(report_of_another_verifier(&served, credential)["verified"], true);
    }
    let revoke = format!("/ims/ob/v3p0/assertions/{}/revoke", short(&badge));
    send(&http, "post", &revoke, json!({"reason": "Awarded by mistake"}), 200);
    let report = report_of_another_verifier(&served, &badge);
    assert_eq!(report["verified"], false);
    assert!(report["errors"].to_string().contains("revoked"), "{report}");
    assert_eq!(report_of_another_verifier(&served, &other)["verified"], true);
}

fn a_browser_shows_the_page_of_a_badge(store: Store) {
    let served = Served::start(store);
    let http = school(&served);
    let badge = awarded(&http, "2026-01-15");
    let address = format!("{}{}", served.base, path(&served, &badge["id"]));
    let profile = served.file("browser");
    let browser = |arguments: &[&str]| {
        let mut browser = Command::new("chromium-headless-shell");
        browser
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(arguments)
            .arg(&address);
        finished(browser, &served)
    };
    let shown = browser(&["--dump-dom"]);
    for wanted in ["Math Master</h1>", "Verified", "Answer every question", "sha256$"] {
        assert!(shown.contains(wanted), "{wanted} is missing in {shown}");
    }
    assert!(!shown.contains("ada@example.org"));
    for (width, height) in [(390, 844), (1280, 800)] {
        let picture = served.file(&format!("{width}.png"));
        browser(&[
            &format!("--window-size={width},{height}"),
            &format!("--screenshot={}", picture.display()),
        ]);
        assert!(std::fs::metadata(&picture).unwrap().len() > 10_000, "the picture shows something");
    }
}
