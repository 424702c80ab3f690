//! Failures name places in the sources and what to do about them, and only to people of this machine.

use lyceum_dev::DevMessage;
use serde_json::{Value, json};

use crate::project::Project;

const GREET: &str = "// A helper of the routes.\n\
                     type Name = string | undefined;\n\
                     export const greet = (name: Name): string => {\n\
                     \u{20}\u{20}if (name === undefined) throw new RangeError(\"a name is missing\");\n\
                     \u{20}\u{20}return `Hello ${name}`;\n\
                     };\n";
const HELLO: &str = "import type { Context } from \"hono\";\n\
                     import { greet } from \"../greet\";\n\
                     export const GET = (c: Context) => c.json({ says: greet(c.req.query(\"name\")) });\n";

/// The text that the page of a failure contains as JSON.
fn facts_of(page: &str) -> Value {
    let start = page.find("= {\"build\"").unwrap() + 2;
    let end = page[start..].find(";\n").unwrap();
    serde_json::from_str(&page[start..start + end]).unwrap()
}

/// The output of the backend that contains a text, and the hint below it.
fn output(project: &Project, text: &str) -> (String, Option<String>) {
    project.hears(|message| match message {
        DevMessage::Output { line, hint } if line.text.contains(text) => Some((line.text, hint)),
        _ => None,
    })
}

/// The failure in the JSON of a route.
fn failure(project: &Project, path: &str) -> Value {
    let (status, answer) = project.get(path);
    assert_eq!(status, 500, "{answer}");
    answer["error"]["failure"].clone()
}

#[test]
fn an_exception_names_its_line_in_the_sources() {
    let project = Project::of(&[("server/greet.ts", GREET), ("server/api/hello.ts", HELLO)]);
    assert_eq!(project.get("/api/hello?name=you"), (200, json!({ "says": "Hello you" })));

    let failure = failure(&project, "/api/hello");
    assert_eq!(failure["message"], "RangeError: a name is missing");
    let place = &failure["place"];
    assert_eq!(
        [&place["file"], &place["line"], &place["column"]],
        [&json!("server/greet.ts"), &json!(4), &json!(33)]
    );
    let frame = place["frame"].as_str().unwrap();
    assert!(frame.contains("> 4 |   if (name === undefined) throw new RangeError("), "{frame}");
    let stack = failure["stack"].as_str().unwrap();
    assert!(stack.starts_with("    at greet (server/greet.ts:4:33)\n    at "), "{stack}");
    assert!(stack.contains("(server/api/hello.ts:3:"), "{stack}");
    assert!(!stack.contains("backend-") && !stack.contains("lyceum-entry"), "{stack}");

    let (text, hint) = output(&project, "RangeError");
    assert!(text.contains("at greet (server/greet.ts:4:33)"), "{text}");
    assert_eq!(hint, None);
}

#[test]
fn a_browser_gets_a_page_and_other_sites_get_nothing() {
    let project = Project::of(&[("server/greet.ts", GREET), ("server/api/hello.ts", HELLO)]);
    let page = |headers: &[(&str, &str)]| {
        let mut answer = project.send("GET", "/api/hello", headers);
        let sort = answer.headers()["content-type"].to_str().unwrap().to_owned();
        (answer.status().as_u16(), sort, answer.body_mut().read_to_string().unwrap())
    };
    let (status, sort, text) = page(&[("Accept", "text/html,*/*;q=0.8")]);
    assert_eq!((status, sort.as_str()), (500, "text/html; charset=utf-8"));
    assert_eq!(facts_of(&text)["failure"], failure(&project, "/api/hello"));

    let (_, sort, text) = page(&[("Origin", "http://localhost:5173")]);
    assert_eq!(sort, "application/json");
    assert!(text.contains("server/greet.ts"), "{text}");
    let (status, _, text) = page(&[("Origin", "https://evil.example"), ("Accept", "text/html")]);
    assert_eq!(status, 500);
    assert!(!text.contains("greet") && !text.contains("RangeError"), "{text}");
    let mut builds =
        project.send("GET", "/api/__lyceum/builds", &[("Origin", "https://evil.example")]);
    assert_eq!(builds.status(), 404, "other sites do not follow the builds");
    assert!(builds.body_mut().read_to_string().unwrap().contains("NOT_FOUND"));

    // Programs get the answers of the last version that worked, and browsers see why it is not the saved one.
    project.write("server/greet.ts", "export const greet = (name) => </script>;\n");
    project.hears(|message| matches!(message, DevMessage::NotServed(_)).then_some(()));
    assert_eq!(project.get("/api/hello?name=you").0, 200);
    let (status, _, text) = page(&[("Accept", "text/html")]);
    assert_eq!(status, 503);
    let facts = facts_of(&text);
    assert_eq!(facts["failure"]["place"]["file"], "server/greet.ts", "{facts}");
    assert_eq!(facts["failure"]["place"]["line"], 1);
    assert_eq!(text.matches("</script>").count(), 1, "sources must not end the script: {text}");
}

#[test]
fn causes_and_values_that_are_not_errors_are_shown() {
    let project = Project::of(&[(
        "server/api/[kind].ts",
        "export const GET = (c) => {\n\
         \u{20}\u{20}if (c.req.param('kind') === 'text') throw 'no error';\n\
         \u{20}\u{20}try { JSON.parse('{'); } catch (cause) { throw new Error('outer', { cause }); }\n\
         };\n",
    )]);
    let failure_of_text = failure(&project, "/api/text");
    let message = failure_of_text["message"].as_str().unwrap();
    assert!(
        message.ends_with("a route threw a value that is not an Error: \"no error\""),
        "{message}"
    );
    let caused = failure(&project, "/api/caused");
    assert_eq!(caused["message"], "Error: outer");
    let stack = caused["stack"].as_str().unwrap();
    assert!(stack.contains("\ncaused by SyntaxError: "), "{stack}");
    assert_eq!(caused["place"]["line"], 3);
}

#[test]
fn hints_say_what_is_missing() {
    let route = |body: &str| format!("export const GET = async (c) => {{\n  {body}\n}};\n");
    let project = Project::of(&[
        ("lyceum.config.json", r#"{ "name": "Hints", "integrations": { "database": true } }"#),
        (".env", "KNOWN=x\n"),
        (
            "server/api/table.ts",
            &route("return c.json(await c.env.DB.prepare('SELECT * FROM score').all());"),
        ),
        ("server/api/binding.ts", &route("return c.json(await c.env.KV.get('a'));")),
        ("server/api/secret.ts", &route("return c.json(c.env.secrets.MAP_KEY.length);")),
        ("server/api/local.ts", &route("return await fetch('http://127.0.0.1:9/');")),
        ("server/api/other.ts", &route("return c.json(c.env.secrets.KNOWN.unknown.length);")),
    ]);
    for (path, expected) in [
        ("/api/table", "the local database has no table 'score'; run `lyceum db push`"),
        ("/api/binding", "env.KV does not exist; set integrations.kv to true"),
        ("/api/secret", "the secret 'MAP_KEY' is not set; add the line MAP_KEY=… to .env"),
        ("/api/local", "a backend reaches only public addresses"),
    ] {
        let failure = failure(&project, path);
        let hint = failure["hint"].as_str().unwrap_or_default();
        assert!(hint.starts_with(expected), "{path}: {failure}");
    }
    assert_eq!(failure(&project, "/api/other")["hint"], json!(null));
    let (_, hint) = output(&project, "no such table");
    assert!(hint.unwrap().contains("lyceum db push"), "the log has the hint");
}

#[test]
fn a_missing_package_is_named_and_served_when_it_is_installed() {
    let route =
        "import { sum } from \"sums/more\";\nexport const GET = (c) => c.json(sum(1, 2));\n";
    let project = Project::of(&[("server/api/sum.ts", route)]);
    let failure = project.hears(|message| match message {
        DevMessage::NotServed(failure) => Some(failure),
        _ => None,
    });
    assert_eq!(failure.hint.as_deref(), Some("run `npm install sums` in the project"));
    let place = failure.place.unwrap();
    assert_eq!((place.file.as_str(), place.line, place.column), ("server/api/sum.ts", 1, 21));
    assert_eq!(project.get("/api/sum").0, 503);

    // As npm writes it: the package, then the list of what is installed.
    project.write("node_modules/sums/package.json", r#"{ "name": "sums", "version": "1.0.0" }"#);
    project.write("node_modules/sums/more.js", "export const sum = (a, b) => a + b;\n");
    project.write("node_modules/.package-lock.json", "{}");
    project.until("/api/sum", &(200, json!(3)));
    // An update changes files of the package, which are not watched, and the list.
    project.write("node_modules/sums/more.js", "export const sum = (a, b) => 10 * (a + b);\n");
    project.write("node_modules/.package-lock.json", r#"{ "updated": true }"#);
    project.until("/api/sum", &(200, json!(30)));
}

#[test]
fn a_mistyped_path_is_reported_in_the_log() {
    let project = Project::of(&[(
        "server/api/users/[id].ts",
        "export const GET = (c) => c.json({}, c.req.param('id') === '0' ? 404 : 200);\n",
    )]);
    let similar_path = |path: &str| {
        assert_eq!(project.get(path).0, 404);
        project.hears(|message| match message {
            DevMessage::Answered { path: answered, similar_path, .. } if answered == path => {
                Some(similar_path)
            }
            _ => None,
        })
    };
    assert_eq!(similar_path("/api/user/7").as_deref(), Some("/api/users/7"));
    assert_eq!(similar_path("/users/7").as_deref(), Some("/api/users/7"));
    assert_eq!(similar_path("/api/users/0"), None, "a route may answer 404");
    assert_eq!(similar_path("/favicon.ico"), None);
}
