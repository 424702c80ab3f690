//! `lyceum kv`, on this machine and deployed.

use serde_json::{Value, json};

use crate::deploy::{client, place_at, staging};
use crate::served::{Served, Store};
use crate::transcript::Place;
use crate::typing::Typing;

const ROUTE: &str = "/_projects/word-rivers/api/kv";

fn project(served: &Served) -> Place {
    let place = place_at(served);
    place.write(
        "lyceum.config.js",
        "export default { name: 'Word Rivers', buildPath: 'dist', integrations: { kv: true } };\n",
    );
    place.write(
        "server/api/kv.ts",
        "export const GET = async (c) => {\n\
           const { value, metadata } = await c.env.KV.getWithMetadata(c.req.query('key'));\n\
           return c.json({ value, metadata });\n\
         };\n\
         export const PUT = async (c) => { await c.env.KV.put('made', 'by the backend'); return c.json({}); };\n",
    );
    place
}

fn names(listed: &Value) -> Vec<&str> {
    listed["keys"].as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap()).collect()
}

#[test]
#[ignore = "rest"]
fn backends_and_commands_see_the_same_entries() {
    let served = staging(Store::Sqlite);
    let (place, client) = (project(&served), client(&served));
    let (code, stderr) = place.fails("kv list --remote");
    assert!(code == 4 && stderr.contains("has no KV here"), "{stderr}");
    place.ok("deploy --yes");
    place.write("long.txt", "two\nlines\n");
    std::fs::write(place.path().join("binary"), [0, 159, 146, 150]).unwrap();
    // Two targets, one behaviour.
    for target in ["", " --remote"] {
        place.ok(&format!("kv set user:1 Ada --metadata {{\"age\":9}} --ttl 600{target}"));
        place.ok(&format!("kv set user:2 --file long.txt{target}"));
        place.ok(&format!("kv set odd%20key?& -1{target}"));
        place.ok(&format!("kv set binary --file binary{target}"));
        assert_eq!(place.ok(&format!("kv get user:1{target}")), "Ada");
        assert_eq!(place.ok(&format!("kv get user:2{target}")), "two\nlines\n");
        assert_eq!(place.ok(&format!("kv get odd%20key?&{target}")), "-1");
        let found = place.json(&format!("kv get user:1 --json{target}"));
        assert_eq!((&found["value"], &found["metadata"]), (&json!("Ada"), &json!({ "age": 9 })));
        assert!(found["expires"].as_str().unwrap().starts_with("20"), "{found}");
        assert_eq!(place.fails(&format!("kv get binary --json{target}")).0, 2);
        place.ok(&format!("kv get binary -o back{target}"));
        assert_eq!(std::fs::read(place.path().join("back")).unwrap(), [0, 159, 146, 150]);
        let (code, stderr) = place.fails(&format!("kv get none{target}"));
        assert!(code == 4 && stderr.contains("the key 'none' does not exist"), "{stderr}");

        let all = place.json(&format!("kv list --json{target}"));
        assert_eq!(names(&all), ["binary", "odd%20key?&", "user:1", "user:2"]);
        let page = place.json(&format!("kv list --limit 3 --json{target}"));
        assert_eq!((names(&page).len(), &page["truncated"]), (3, &json!(true)));
        let cursor = page["cursor"].as_str().unwrap();
        let rest = place.json(&format!("kv list --cursor {cursor} --json{target}"));
        assert_eq!(names(&rest), ["user:2"]);
        let prefixed = place.ok(&format!("kv list --prefix user:1{target}"));
        assert!(prefixed.contains("user:1") && prefixed.contains("{\"age\":9}"), "{prefixed}");

        // What is refused changes nothing.
        assert_eq!(place.fails(&format!("kv set short x --ttl 59{target}")).0, 1);
        assert_eq!(place.fails(&format!("kv set x y --metadata {{{target}")).0, 2);
        assert_eq!(place.fails(&format!("kv set {} x{target}", "k".repeat(513))).0, 1);
        assert_eq!(place.fails(&format!("kv list --cursor !!{target}")).0, 1);
        assert_eq!(place.fails(&format!("kv delete --prefix user:{target}")).0, 5);
        let question = "Delete 2 keys 'user:…' of";
        let mut typing = Typing::start(&place, &format!("kv delete --prefix user:{target}"));
        assert_eq!(typing.answer(question, "n").end().0, 130);
        assert_eq!(names(&place.json(&format!("kv list --json{target}"))).len(), 4);

        let deleted = place.json(&format!("kv delete binary never-there --json{target}"));
        assert_eq!(deleted["deleted"], json!(["binary"]));
        place.ok(&format!("kv delete --prefix odd --yes{target}"));
        let left = place.json(&format!("kv list --json{target}"));
        assert_eq!(names(&left), ["user:1", "user:2"]);
    }
    let seen: Value = client.get(&format!("{ROUTE}?key=user:1")).expect(200).json();
    assert_eq!(seen, json!({ "value": "Ada", "metadata": { "age": 9 } }));
    client.put(ROUTE).json(&json!({})).expect(200);
    assert_eq!(place.ok("kv get made --remote"), "by the backend");
    assert_eq!(place.fails("kv get made").0, 4, "the local store is another one");
}
