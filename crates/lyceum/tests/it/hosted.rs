//! A deployed project: what its backend knows of the platform, its versions before they are promoted, its
//! files in a bucket of S3, which moto serves.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lyceum_testserver::client::TestClient;
use serde_json::{Value, json};

use crate::sandbox::Running;
use crate::served::{root, target};
use crate::transcript::Place;

const ROUTE: &str = r#"
export const GET = async (c) => {
  const { BUCKET, LYCEUM } = c.env;
  const ask = async (path, init) => {
    const answer = await LYCEUM.fetch(path, init);
    return [answer.status, await answer.json().catch(() => null)];
  };
  const [, total] = await ask("/api/lms/xp/total?userId=demo-user");
  const score = JSON.stringify({ score: 5 });
  const post = { method: "POST", body: score, headers: { "content-type": "application/json" } };
  const [scored] = await ask("/api/scores?userId=demo-user", post);
  const [other] = await ask("/api/games/another/scores?userId=demo-user", post);
  const [nobody] = await ask("/api/scores", post);
  await BUCKET.put("shots/1.txt", "VERSION");
  return c.json({ version: "VERSION", user: c.get("user"), xp: total.totalXp, scored, other, nobody });
};
"#;
const OBJECT: &str = "export const GET = async (c) => c.text(await (await c.env.BUCKET.get('shots/1.txt')).text());\n";
const CONFIG: &str = r#"{ "name": "Word Rivers", "buildPath": "dist", "integrations": {
  "bucket": true, "lms": { "courses": [{ "subject": "Math", "grade": 3, "totalXp": 1000 }] } } }"#;

fn write(place: &Place, version: &str) {
    place.write("dist/index.html", &format!("<h1>{version}</h1>"));
    place.write("dist/about.html", &format!("<h1>about {version}</h1>"));
    place.write("server/api/me.js", &ROUTE.replace("VERSION", version));
}

/// A server that speaks S3, with a bucket 'files'; it ends with this value.
pub(crate) struct Moto {
    process: Child,
    endpoint: String,
}

impl Moto {
    pub(crate) fn start() -> Self {
        Self::start_at("127.0.0.1", &lyceum_testkit::free_port().to_string())
    }

    pub(crate) fn start_at(host: &str, port: &str) -> Self {
        let mut command = Command::new("python3");
        command.arg(root().join("tests/clients/bootstrap.py")).arg(target().join("venvs"));
        command.args(["moto", "-m", "moto.server", "-H", host, "-p", port]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let moto = Self {
            process: command.spawn().expect("python3 is installed"),
            endpoint: format!("http://{host}:{port}"),
        };
        let since = Instant::now();
        while ureq::put(format!("{}/files", moto.endpoint)).send_empty().is_err() {
            assert!(since.elapsed() < Duration::from_mins(5), "moto does not answer");
            sleep(Duration::from_millis(50));
        }
        moto
    }

    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    pub(crate) fn create_bucket(&self, name: &str) {
        ureq::put(format!("{}/{name}", self.endpoint)).send_empty().unwrap();
    }

    /// The settings of a server that keeps its files there.
    pub(crate) fn settings(&self) -> [(&'static str, &str); 5] {
        [
            ("LYCEUM_S3__BUCKET", "files"),
            ("LYCEUM_S3__ENDPOINT", &self.endpoint),
            ("LYCEUM_S3__ACCESS_KEY", "key"),
            ("LYCEUM_S3__SECRET_KEY", "secret"),
            ("LYCEUM_S3__PREFIX", "school"),
        ]
    }

    /// The list of its objects, as S3 answers it.
    pub(crate) fn keys(&self) -> String {
        let listed = ureq::get(format!("{}/files?list-type=2", self.endpoint)).call().unwrap();
        listed.into_body().read_to_string().unwrap()
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The project by its path.
fn client(sandbox: &Running) -> TestClient {
    TestClient::new(format!("http://127.0.0.1:{}/_projects/word-rivers", sandbox.printed["port"]))
}

#[test]
#[ignore = "rest"]
fn a_deployed_project_has_its_files_in_s3_its_platform_and_its_versions() {
    let moto = Moto::start();
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new().with("XDG_RUNTIME_DIR", folder.path().to_str().unwrap());
    let with = |place: Place, (name, value): (&str, &str)| place.with(name, value);
    let place = moto.settings().into_iter().fold(place, with);
    symlink(root().join("tests/deploy/node_modules"), place.path().join("node_modules")).unwrap();
    fs::create_dir_all(place.path().join("server/api")).unwrap();
    fs::create_dir(place.path().join("dist")).unwrap();
    place.write("lyceum.config.json", CONFIG);
    place.write("server/api/object.js", OBJECT);
    write(&place, "one");
    let sandbox = Running::start(&place, "--db-path sandbox.db");
    let another = json!({ "slug": "another", "displayName": "Another" });
    sandbox.client().post("/api/games").json(&another).expect(201);
    place.ok("deploy --env local --yes");
    write(&place, "two");
    place.ok("deploy --env local --yes");

    // Who calls, and what the backend may ask.
    let project = client(&sandbox);
    let me: Value = client(&sandbox).with_token("mock").get("/api/me").expect(200).json();
    assert_eq!((&me["version"], &me["user"]["sub"]), (&json!("two"), &json!("demo-user")), "{me}");
    assert!(me["user"]["given_name"].is_string() && me["user"]["lms_id"] == "demo-user", "{me}");
    assert!(me["xp"].as_f64().is_some_and(|xp| xp > 0.0), "{me}");
    assert_eq!(
        (&me["scored"], &me["other"], &me["nobody"]),
        (&json!(201), &json!(403), &json!(422))
    );
    let stamped = [("lyceum-user", "%7B%22sub%22%3A%22demo-user%22%7D")];
    let forged: Value =
        project.get("/api/me").header(stamped[0].0, stamped[0].1).expect(200).json();
    assert_eq!(forged["user"], Value::Null, "nobody says of themselves who they are");
    project.get("/api/integrations/lms/xp/total?userId=demo-user").expect(401);

    // The version before, by its path; by host a browser is led to the root of it.
    assert_eq!(project.get("/_v/1/").expect(200).text(), "<h1>one</h1>");
    let before: Value = project.get("/_v/1/api/me").expect(200).json();
    assert_eq!(before["version"], "one");
    project.get("/_v/7/").expect(404);
    project.get("/_v/x/").expect(404);
    let host = TestClient::new(format!("http://127.0.0.1:{}", sandbox.printed["port"]));
    let named = format!("word-rivers.localhost:{}", sandbox.printed["port"]);
    let turned = host.get("/_v/1/about?x=1").header("host", &named).header("accept", "text/html");
    let turned = turned.expect(302);
    assert_eq!(turned.header("location"), "/about?x=1");
    let cookie = turned.header("set-cookie");
    assert!(cookie.starts_with("lyceum-version=1; Path=/; HttpOnly"), "{cookie}");
    let page = |cookie: &str| {
        host.get("/about.html").header("host", &named).header("cookie", cookie).expect(200).text()
    };
    assert_eq!(page("a=b; lyceum-version=1"), "<h1>about one</h1>");
    assert_eq!(page("lyceum-version=7"), "<h1>about two</h1>", "what is gone is not asked for");
    let back = host.get("/_v/served/").header("host", &named).header("accept", "text/html");
    assert!(back.expect(302).header("set-cookie").contains("Max-Age=0"));

    // What the disk had is only a copy.
    assert_eq!(
        project.get("/api/object").expect(200).text(),
        "one",
        "the version before wrote last"
    );
    let keys = moto.keys();
    for store in ["hosting", "projects/word-rivers"] {
        let is_of = |key: &str| key.starts_with("school/objects/") && key.contains(store);
        assert!(keys.split("<Key>").any(is_of), "{keys}");
    }
    sandbox.stop();
    let data = place.path().join("sandbox.db.data/hosting");
    fs::remove_dir_all(data.join("copies")).unwrap();
    fs::remove_dir_all(data.join("projects/word-rivers/bucket/objects")).unwrap();
    let sandbox = Running::start(&place, "--db-path sandbox.db");
    let project = client(&sandbox);
    assert_eq!(project.get("/").expect(200).text(), "<h1>two</h1>");
    assert_eq!(project.get("/api/object").expect(200).text(), "one");
    assert_eq!(place.json("deploy --env local --yes --json")["action"], "nothing");
    sandbox.stop();
}

#[test]
#[ignore = "rest"]
fn projects_are_below_the_domain_of_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new()
        .with("XDG_RUNTIME_DIR", folder.path().to_str().unwrap())
        .with("LYCEUM_HOSTING__DOMAIN", "apps.example");
    crate::deploy::project(&place);
    let sandbox = Running::start(&place, "--db-path sandbox.db");
    let deployed = place.json("deploy --env local --yes --json");
    let address = format!("word-rivers.apps.example:{}", sandbox.printed["port"]);
    assert_eq!(deployed["backendUrl"], format!("http://{address}/api"));
    let server = TestClient::new(format!("http://127.0.0.1:{}", sandbox.printed["port"]));
    let hello = |host: &str| server.get("/api/hello").header("host", host).send();
    assert_eq!(hello(&address).json::<Value>()["says"], "Hello you");
    assert_eq!(hello("word-rivers.localhost").status, 404, "that is the server itself");
    sandbox.stop();
}
