//! Files of routes with a default export, deployed: they answer as in `lyceum dev`, and their errors show no sources.

use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::deploy::project;
use crate::sandbox::Running;
use crate::transcript::Place;

const APP: &str = "import { Hono } from 'hono';\n\
    export default new Hono()\n\
    \u{20}\u{20}.get('/:id', (c) => c.json({ id: c.req.param('id'), game: c.env.GAME_ID }))\n\
    \u{20}\u{20}.post('/fails', () => { throw new Error('a secret of the source'); });\n";
const WORKER: &str = "export default {\n\
    \u{20}\u{20}fetch: (request, env) => Response.json({ path: new URL(request.url).pathname, game: env.GAME_ID }),\n\
    };\n";

#[test]
#[ignore = "rest"]
fn default_exports_are_deployed_and_their_errors_show_no_sources() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new().with("XDG_RUNTIME_DIR", folder.path().to_str().unwrap());
    project(&place);
    place.write("server/api/scores.ts", APP);
    place.write("server/api/worker.ts", WORKER);
    let sandbox = Running::start(&place, "--db-path sandbox.db");
    place.ok("deploy --env local --yes");
    let backend = TestClient::new(format!("http://127.0.0.1:{}", sandbox.printed["port"]));
    let get = |path: &str| -> Value {
        backend.get(&format!("/_projects/word-rivers{path}")).expect(200).json()
    };
    assert_eq!(get("/api/scores/7"), json!({ "id": "7", "game": "word-rivers" }));
    let worker = get("/api/worker/below");
    assert_eq!(worker["game"], "word-rivers");
    assert!(worker["path"].as_str().unwrap().ends_with("/api/worker/below"), "{worker}");
    assert_eq!(get("/api/hello"), json!({ "says": "Hello you" }));

    let failed = backend.post("/_projects/word-rivers/api/scores/fails");
    let answer: Value = failed.header("accept", "text/html").expect(500).json();
    let error = json!({ "code": "INTERNAL", "message": "the route failed; the logs say why", "details": [] });
    assert_eq!(answer, json!({ "error": error }));
    backend.get("/_projects/word-rivers/api/__lyceum/routes").expect(404);
}
