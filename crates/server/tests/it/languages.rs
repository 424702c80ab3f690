//! The language of pages: the account's, otherwise the browser's choice, otherwise the one that the browser prefers.

use lyceum_access::{Role, Scope};
use lyceum_core::PayloadDialect;
use lyceum_testserver::server::{TestServer, both};
use serde_json::{Value, json};

use crate::people::{cookie, form_token, person, signed_in};

const ADA: &str = "ada@example.org";

fn language(page: &str) -> &str {
    page.split_once("<html lang=\"").unwrap().1.split('"').next().unwrap()
}

/// A page with these headers.
fn page(server: &TestServer, path: &str, cookie: &str, preferred: &str) -> String {
    let client = server.anonymous();
    client
        .get(path)
        .header("cookie", cookie)
        .header("accept-language", preferred)
        .expect(200)
        .text()
}

#[test]
fn pages_are_in_the_language_that_the_browser_prefers() {
    both(|server| {
        person(server, ADA, "Ada", Role::Administrator);
        for (preferred, tag, text) in [
            ("es-MX,es;q=0.9,en;q=0.8", "es", "Iniciar sesión"),
            ("de,en;q=0.5", "en", "Sign in"),
            ("", "en", "Sign in"),
        ] {
            let page = page(server, "/sign-in", "", preferred);
            assert_eq!(language(&page), tag);
            assert!(page.contains(text), "{preferred}: {page}");
        }
        let refused = server.anonymous().get("/learn/none").header("accept-language", "es").send();
        assert_eq!(refused.status, 404);
    });
}

#[test]
fn a_choice_on_the_sign_in_page_stays_in_the_browser() {
    both(|server| {
        person(server, ADA, "Ada", Role::Administrator);
        let client = server.anonymous();
        let shown = client.get("/sign-in").expect(200);
        let (form, token) = (cookie(&shown), form_token(&shown));
        let send = |language: &str| {
            let fields = [("token", token.as_str()), ("language", language)];
            let address = format!("{}/sign-in?next=%2Fconsole", server.address());
            client
                .post("/language")
                .form(&fields)
                .header("cookie", &form)
                .header("referer", &address)
                .send()
        };
        let chosen = send("es");
        assert_eq!((chosen.status, chosen.header("location")), (303, "/sign-in?next=%2Fconsole"));
        let kept = cookie(&chosen);
        assert_eq!(language(&page(server, "/sign-in", &kept, "en")), "es");
        assert_eq!(send("de").status, 422, "a language that the pages do not have");
        let forged = client.post("/language").form(&[("language", "es")]).send();
        assert_eq!(forged.status, 403);
    });
}

#[test]
fn the_choice_of_an_account_comes_first() {
    both(|server| {
        person(server, ADA, "Ada", Role::Administrator);
        let session = signed_in(server, ADA);
        let profile = page(server, "/console/profile", &session, "en");
        let token =
            profile.split_once("name=\"token\" value=\"").unwrap().1.split('"').next().unwrap();
        let save = |language: &str| {
            let fields = [("token", token), ("name", "Ada"), ("language", language)];
            let client = server.anonymous();
            client.post("/console/profile").form(&fields).header("cookie", &session).send().status
        };
        assert_eq!(save("es"), 303);
        let students = page(server, "/console/students", &session, "en");
        assert_eq!(language(&students), "es");
        assert!(students.contains("Estudiantes") && !students.contains("Students"), "{students}");
        let manager = server.client_with(&[Scope::PeopleManage], PayloadDialect::Platform);
        let accounts: Value = manager.get("/api/people").expect(200).json();
        assert_eq!(accounts["accounts"][0]["language"], "es");
        // Files are the same for everybody.
        let file = page(server, "/console/students?export=csv", &session, "es");
        assert!(file.starts_with("name,grade,"), "{file}");
        assert_eq!(save("fr"), 422);
        assert_eq!(save(""), 303);
        assert_eq!(language(&page(server, "/console/students", &session, "en")), "en");
    });
}

#[test]
fn people_and_administrators_choose_over_the_api() {
    both(|server| {
        person(server, ADA, "Ada", Role::Administrator);
        let session = signed_in(server, ADA);
        let client = server.anonymous();
        let change = |body: Value| {
            client.patch("/api/auth/me").json(&body).header("cookie", &session).send()
        };
        assert_eq!(change(json!({ "language": "es" })).status, 200);
        assert_eq!(language(&page(server, "/console", &session, "en")), "es");
        assert_eq!(change(json!({ "language": "xx" })).status, 422);
        assert_eq!(change(json!({ "language": "" })).status, 200);
        assert_eq!(language(&page(server, "/console", &session, "en")), "en");
    });
}
