//! Lists of frameworks and items: pages, order, filters, search.

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::case::{FRAMEWORK, get, store};

fn codes(client: &TestClient, query: &str) -> Vec<String> {
    let list = get(client, &format!("/CFItems?{query}"));
    let items = list["CFItems"].as_array().unwrap();
    items.iter().map(|item| item["humanCodingScheme"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn items_are_found_by_code_words_and_grade() {
    both(|server| {
        let client = server.client();
        store(&client);
        for (query, wanted) in [
            ("search=fraction", vec!["3.NF", "3.NF.A.1"]),
            ("search=UNDERSTANDING%20frac", vec!["3.NF"]),
            ("search=3.nf.a", vec!["3.NF.A.1"]),
            ("search=nf", vec!["3.NF", "3.NF.A.1"]),
            ("search=raction", vec![]),
            ("search=cluster", vec!["3.NF"]),
            ("grade=3", vec!["3.NF", "3.NF.A.1"]),
            ("grade=0", vec!["K.CC"]),
            ("grade=K&search=count", vec!["K.CC"]),
            ("grade=K&search=fraction", vec![]),
            ("search=number&sort=humanCodingScheme&orderBy=desc", vec!["K.CC", "3.NF"]),
            ("filter=CFItemType='cluster'", vec!["3.NF"]),
            ("filter=educationLevel~'kg'", vec!["K.CC"]),
            ("filter=humanCodingScheme!='K.CC'%20AND%20fullStatement~'1/B'", vec!["3.NF.A.1"]),
            ("limit=1&offset=1", vec!["3.NF.A.1"]),
        ] {
            assert_eq!(codes(&client, query), wanted, "{query}");
            let within = codes(&client, &format!("{query}&framework={FRAMEWORK}"));
            assert_eq!(within, wanted, "{query}");
            let without = codes(&client, &format!("{query}&framework={}", crate::case::item(9)));
            assert!(without.is_empty(), "{query}");
        }
        for wrong in ["search=--", "framework=x", "filter=nothing='x'", "sort=x", "orderBy=up"] {
            client.get(&format!("/ims/case/v1p1/CFItems?{wrong}")).expect(400);
        }
        // What is replaced is found by its new words alone.
        let id = crate::case::item(3);
        let changed = crate::case::new_item(3, "K.OA", "1", "Add within five");
        client.put(&format!("/ims/case/v1p1/CFItems/{id}")).json(&changed).expect(200);
        assert!(codes(&client, "search=count").is_empty());
        assert_eq!(codes(&client, "search=five&grade=01"), ["K.OA"]);
        client.delete(&format!("/ims/case/v1p1/CFItems/{id}")).expect(204);
        assert!(codes(&client, "search=five").is_empty());
    });
}

#[test]
fn frameworks_are_listed_in_pages() {
    both(|server| {
        let client = server.client();
        for (number, title) in ["Beta", "alpha", "Gamma"].iter().enumerate() {
            let document = json!({
                "identifier": format!("7e000000-0000-4000-8000-00000000f00{number}"), "creator": "Board",
                "title": title, "lastChangeDateTime": format!("2026-01-0{}T00:00:00+01:00", number + 1),
            });
            client.post("/ims/case/v1p1/CFDocuments").json(&document).expect(201);
        }
        let titles = |query: &str| -> String {
            let list = get(&client, &format!("/CFDocuments?{query}"));
            let all = list["CFDocuments"].as_array().unwrap().clone();
            all.iter().map(|one| one["title"].as_str().unwrap()[..1].to_owned()).collect()
        };
        assert_eq!(titles(""), "BaG");
        assert_eq!(titles("sort=lastChangeDateTime&orderBy=desc"), "GaB");
        assert_eq!(titles("sort=title"), "BGa");
        assert_eq!(titles("filter=lastChangeDateTime%3E='2026-01-01T12:00:00Z'"), "aG");
        assert_eq!(titles("filter=title='ALPHA'"), "a");
        assert_eq!(titles("filter=title~'a'%20AND%20creator='board'&limit=1&offset=2"), "G");
        let reply = client.get("/ims/case/v1p1/CFDocuments?limit=2").expect(200);
        assert_eq!(reply.header("x-total-count"), "3");
        let links = reply.header("link");
        assert!(links.contains("limit=2&offset=2>; rel=\"next\""), "{links}");
        let chosen = get(&client, "/CFDocuments?fields=title,sourcedId&limit=1");
        let members: Vec<&String> = chosen["CFDocuments"][0].as_object().unwrap().keys().collect();
        assert_eq!(members, ["sourcedId", "title"]);
        let none: Value = get(&client, "/CFDocuments?offset=9");
        assert_eq!(none, json!({ "CFDocuments": [] }));
    });
}
