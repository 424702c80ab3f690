//! Paths, methods and the formats of errors.

use lyceum_core::PayloadDialect;
use lyceum_testserver::server::both_as;
use serde_json::{Value, json};
use ureq::http::Method;

use crate::probe;

#[test]
fn parameters_are_decoded_after_routing() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        let echo = |path: &str| client.get(path).expect(200).json::<Value>();
        assert_eq!(echo("/probe/echo/a%2Fb%3Ac%20d")["text"], "a/b:c d");
        assert_eq!(
            echo("/probe/echo/x?a=1&b=2%203+4&a=")["query"],
            json!([["a", "1"], ["b", "2 3 4"], ["a", ""]])
        );
        assert_eq!(echo("/probe/echo/x/")["path"], "/probe/echo/x/");
        let broken = client.get("/probe/echo/%FF").expect(400).json::<Value>();
        assert_eq!(minor(&broken), "invaliddata");
    });
}

#[test]
fn a_trailing_slash_is_optional_everywhere() {
    both_as(&probe::setup(), |server| {
        let client = server.client();
        for path in ["/health/", "/probe/guarded/", "/probe/echo/x//", "/ready/"] {
            client.get(path).expect(200);
        }
        client.get("/probe/slow//").expect(404);
    });
}

#[test]
fn unknown_paths_have_the_error_format_of_their_area() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        let inside = client.get("/probe/nothing").expect(404);
        assert_eq!(inside.header("content-type"), "application/json");
        assert_eq!(minor(&inside.json()), "unknownobject");
        let outside = client.get("/nothing?token=secret").expect(404);
        assert_eq!(outside.header("content-type"), "application/problem+json");
        let body: Value = outside.json();
        assert_eq!((&body["status"], &body["title"]), (&json!(404), &json!("Not Found")));
        client.get("/probes").expect(404);
    });
}

#[test]
fn unsupported_methods_are_refused() {
    both_as(&probe::setup(), |server| {
        let client = server.anonymous();
        let wrong = client.delete("/probe/guarded").expect(405);
        assert_eq!(wrong.header("allow"), "GET, HEAD, OPTIONS, POST");
        assert_eq!(minor(&wrong.json()), "invaliddata");
        let options = client.call(Method::OPTIONS, "/probe/guarded").expect(204);
        assert_eq!(options.header("allow"), "GET, HEAD, OPTIONS, POST");
        assert_eq!(client.get("/oauth2/token").expect(405).header("allow"), "OPTIONS, POST");

        let got = client.get("/probe/text/7000").expect(200);
        let head = client.call(Method::HEAD, "/probe/text/7000").expect(200);
        assert_eq!(head.body, b"");
        assert_eq!(head.header("content-length"), got.body.len().to_string());
        assert_eq!(head.header("content-type"), got.header("content-type"));
        client.call(Method::HEAD, "/probe/guarded").expect(401);
    });
}

#[test]
fn server_errors_show_no_internals() {
    both_as(&probe::setup(), |server| {
        for path in ["/probe/panic", "/probe/fault/internal"] {
            let reply = server.anonymous().get(path).expect(500);
            assert!(!reply.text().contains("1234"), "{}", reply.text());
            assert!(!reply.header("x-request-id").is_empty());
            assert_eq!(minor(&reply.json()), "internal_server_error");
        }
        server.anonymous().get("/health").expect(200);
    });
}

#[test]
fn the_imsx_body_agrees_with_the_standard() {
    both_as(&probe::setup(), |server| {
        let platform: Value = server.anonymous().get("/probe/fault/invalid").expect(422).json();
        let mut expected = json!({
            "imsx_codeMajor": "failure",
            "imsx_severity": "error",
            "imsx_description": "course.org: must be a reference",
            "imsx_CodeMinor": {"imsx_codeMinorField": [{
                "imsx_codeMinorFieldName": "TargetEndSystem",
                "imsx_codeMinorFieldValue": "invaliddata",
            }]},
            "imsx_error_details": [{"path": "course.org", "message": "must be a reference"}],
        });
        assert_eq!(platform, expected);
        expected.as_object_mut().unwrap().remove("imsx_error_details");
        let accept = r#"application/json;profile="standard""#;
        let client = server.anonymous();
        let standard = client.get("/probe/fault/invalid").header("accept", accept).expect(422);
        assert_eq!(standard.json::<Value>(), expected);
    });
}

#[test]
fn the_dialect_is_that_of_the_client_or_of_the_request() {
    both_as(&probe::setup(), |server| {
        let is_standard = |dialect, accept: &str| {
            let client = server.client_with(&[], dialect);
            let reply = client.get("/probe/dialect").header("accept", accept).expect(200);
            reply.json::<Value>()["standard"].as_bool().unwrap()
        };
        assert!(!is_standard(PayloadDialect::Platform, "application/json"));
        assert!(is_standard(PayloadDialect::Standard, "application/json"));
        assert!(is_standard(PayloadDialect::Platform, r#"application/json;profile="standard""#));
        assert!(is_standard(PayloadDialect::Platform, "application/json; profile=standard, */*"));
        assert!(!is_standard(PayloadDialect::Standard, r#"application/json;profile="platform""#));
    });
}

fn minor(body: &Value) -> &str {
    body["imsx_CodeMinor"]["imsx_codeMinorField"][0]["imsx_codeMinorFieldValue"].as_str().unwrap()
}
