//! Files of routes may export a Hono app or a fetch handler by default, as Cloudflare Workers do.

use lyceum_deploy::{Bundle, COMPATIBILITY_DATE, Target, routes_in};
use lyceum_dev::DevMessage;
use lyceum_project::Uses;
use serde_json::json;

use crate::project::Project;

const APP: &str = "import { Hono } from 'hono';\n\
    const app = new Hono();\n\
    app.use(async (c, next) => { await next(); c.header('x-app', 'scores'); });\n\
    app.get('/', (c) => c.json({ all: true, user: c.get('user') }));\n\
    app.post('/:id', async (c) => c.json({ id: c.req.param('id'), body: await c.req.json() }, 201));\n\
    app.get('/fails', () => { throw new Error('in the app'); });\n\
    export default app;\n";
const WHOLE: &str = "import { Hono } from 'hono';\n\
    export default new Hono().basePath('/api/whole').get('/deep/:name', (c) => c.text(c.req.param('name')));\n";
const WORKER: &str = "export default {\n\
    \u{20}\u{20}async fetch(request, env, ctx) {\n\
    \u{20}\u{20}\u{20}\u{20}const { pathname } = new URL(request.url);\n\
    \u{20}\u{20}\u{20}\u{20}if (pathname.endsWith('/fails')) throw new Error('in the worker');\n\
    \u{20}\u{20}\u{20}\u{20}if (pathname.endsWith('/nothing')) return undefined;\n\
    \u{20}\u{20}\u{20}\u{20}return Response.json({ pathname, game: env.GAME_ID, waits: typeof ctx.waitUntil });\n\
    \u{20}\u{20}},\n\
    };\n";
const LAST: &str = "export default function fetch(request) {\n\
    \u{20}\u{20}return new Response(`${request.method} ${new URL(request.url).pathname}`);\n\
    }\n";

fn files() -> [(&'static str, &'static str); 6] {
    [
        ("lyceum.config.json", r#"{ "name": "Exports" }"#),
        ("server/api/scores.ts", APP),
        ("server/api/whole.ts", WHOLE),
        ("server/api/worker.ts", WORKER),
        ("server/api/worker/[id].ts", "export const GET = (c) => c.json('of the file');\n"),
        ("server/api/index.ts", LAST),
    ]
}

#[test]
fn apps_and_fetch_handlers_answer_below_their_path() {
    let project = Project::of(&files());
    assert_eq!(project.get("/api/scores"), (200, json!({ "all": true, "user": null })));
    let answer = project.send("GET", "/api/scores", &[]);
    assert_eq!(answer.headers()["x-app"], "scores", "its middleware runs");
    let other = project.send("GET", "/api/worker", &[]);
    assert!(!other.headers().contains_key("x-app"), "for its own paths only");
    assert_eq!(project.get("/api/whole/deep/river"), (200, json!("river")));
    let worker =
        |path: &str| (200, json!({ "pathname": path, "game": "exports", "waits": "function" }));
    for path in ["/api/worker", "/api/worker/a/b"] {
        assert_eq!(project.get(path), worker(path));
    }
    assert_eq!(project.get("/api/worker/7"), (200, json!("of the file")), "a file goes first");
    assert_eq!(project.get("/api/anything"), (200, json!("GET /api/anything")));
    assert_eq!(project.get("/health").1["status"], "ok");
    let page = [("Origin", "https://games.example")];
    let cors = project.send("GET", "/api/worker", &page);
    assert_eq!(cors.headers()["access-control-allow-origin"], "*");

    let routes = project.hears(|message| match message {
        DevMessage::Serves { routes, .. } => Some(routes),
        _ => None,
    });
    let mut routes: Vec<_> =
        routes.into_iter().map(|(path, methods)| format!("{} {path}", methods.join(","))).collect();
    routes.sort();
    assert_eq!(
        routes,
        [
            "ALL /api",
            "ALL /api/worker",
            "GET /api/scores",
            "GET /api/scores/fails",
            "GET /api/whole/deep/:name",
            "GET /api/worker/:id",
            "POST /api/scores/:id"
        ]
    );
}

#[test]
fn exceptions_of_default_exports_name_the_sources() {
    let project = Project::of(&files());
    for (path, message, file, line) in [
        ("/api/scores/fails", "Error: in the app", "server/api/scores.ts", 6),
        ("/api/worker/x/fails", "Error: in the worker", "server/api/worker.ts", 4),
    ] {
        let (status, answer) = project.get(path);
        let failure = &answer["error"]["failure"];
        assert_eq!((status, failure["message"].as_str()), (500, Some(message)), "{answer}");
        assert_eq!(
            (failure["place"]["file"].as_str(), &failure["place"]["line"]),
            (Some(file), &json!(line))
        );
    }
    let (_, answer) = project.get("/api/worker/x/nothing");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("server/api/worker.ts must return a Response"), "{message}");
}

#[test]
fn another_default_export_is_refused() {
    let project = Project::of(&[("server/api/a.ts", "export default 7;\n")]);
    let failure = project.hears(|message| match message {
        DevMessage::NotServed(failure) => Some(failure.message),
        _ => None,
    });
    assert!(
        failure.contains("the default export of server/api/a.ts must be a Hono app"),
        "{failure}"
    );
}

#[test]
fn a_bundle_for_a_server_has_no_sources() {
    let project = Project::of(&files());
    let root = project.path();
    let routes = routes_in(&root.join("server/api")).unwrap();
    let bundle =
        |target| Bundle::of(root, &routes, Uses::default(), COMPATIBILITY_DATE, target).unwrap();
    let (deployed, served) = (bundle(Target::Server), bundle(Target::Development));
    assert!(deployed.source_map.is_none() && served.source_map.is_some());
    let text = String::from_utf8(deployed.bytes).unwrap();
    assert!(text.contains("isDevelopment = false") && !text.contains("sourceMappingURL"));
}
