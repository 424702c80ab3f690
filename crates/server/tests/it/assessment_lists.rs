//! Lists of assessment content over HTTP: pages, order, search, filters.

use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::assessment::{choice, get};

/// Items a to e with titles in the other direction.
fn items(client: &TestClient) {
    for (index, id) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
        let metadata = match index {
            0 => Value::Null,
            _ => {
                json!({"grade": index, "difficulty": if index > 2 { "Hard" } else { "easy" }, "set": {"name": "O'Brien"}})
            }
        };
        let xml = choice(id, &format!("T{}", 9 - index));
        client
            .post("/assessment-items")
            .json(&json!({"xml": xml, "metadata": metadata}))
            .expect(201);
    }
    let text = json!({"identifier": "f", "title": "Écrire", "type": "text-entry", "interaction": {
        "type": "text-entry", "responseIdentifier": "RESPONSE", "questionStructure": {"prompt": "Say <b>ÉTÉ</b>"}}});
    client.post("/assessment-items").json(&text).expect(201);
}

fn ids(list: &Value) -> String {
    list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["identifier"].as_str().unwrap())
        .collect()
}

#[test]
fn pages_go_through_the_whole_list_once() {
    both(|server| {
        let client = server.client();
        assert_eq!(
            get(&client, "/assessment-items"),
            json!({"items": [], "total": 0, "page": 1, "pages": 0, "limit": 100, "sort": "createdAt", "order": "asc"})
        );
        items(&client);
        let page = |query: &str| get(&client, &format!("/assessment-items?{query}"));
        let mut seen = String::new();
        for number in 1..=3 {
            let page = page(&format!("limit=2&page={number}"));
            let numbers =
                ["total", "page", "pages", "limit"].map(|name| page[name].as_i64().unwrap());
            assert_eq!(numbers, [6, number, 3, 2]);
            seen += &ids(&page);
        }
        assert_eq!(seen, "abcdef");
        assert_eq!(ids(&page("limit=2&page=4")), "");
        assert_eq!(ids(&page("page=4294967295&limit=4294967295")), "");
        assert_eq!(page("limit=5000")["limit"], 3000);
        assert_eq!(ids(&page("sort=identifier&order=desc")), "fedcba");
        assert_eq!(ids(&page("sort=title")), "edcbaf");
        assert_eq!(ids(&page("sort=type&order=DESC&limit=1")), "f");
        client.put("/assessment-items/b").json(&json!({"title": "T8 new"})).expect(200);
        assert_eq!(ids(&page("sort=updatedAt&order=desc&limit=1")), "b");
        client.delete("/assessment-items/c").expect(204);
        assert_eq!((ids(&page("")), page("")["total"].as_i64()), ("abdef".into(), Some(5)));
        // A member of a list is what a single read answers.
        assert_eq!(page("limit=1")["items"][0], get(&client, "/assessment-items/a"));
        for wrong in ["sort=nothing", "order=up", "query=%00"] {
            let refused: Value =
                client.get(&format!("/assessment-items?{wrong}")).expect(400).json();
            assert!(
                wrong.starts_with(refused["details"][0]["path"].as_str().unwrap()),
                "{refused}"
            );
        }
    });
}

#[test]
fn a_search_looks_into_identifier_title_and_text() {
    both(|server| {
        let client = server.client();
        items(&client);
        let found = |text: &str| ids(&get(&client, &format!("/assessment-items?query={text}")));
        assert_eq!(found("t7"), "c");
        assert_eq!(found("NEPTUNE"), "abcde");
        assert_eq!(found("%C3%A9t%C3%A9"), "f", "letters beyond A-Z too");
        assert_eq!(found("%25"), "");
        assert_eq!(found("right"), "", "keys and attributes are no text");
        assert_eq!(get(&client, "/assessment-items?query=neptune&limit=2")["pages"], 3);
    });
}

#[test]
fn filters_name_columns_and_metadata() {
    both(|server| {
        let client = server.client();
        items(&client);
        let filtered = |text: &str| {
            let filter = text.replace(' ', "%20").replace('<', "%3C").replace('>', "%3E");
            ids(&get(&client, &format!("/assessment-items?filter={filter}")))
        };
        for (filter, wanted) in [
            ("identifier='a'", "a"),
            ("identifier='A'", ""),
            ("title='t9'", "a"),
            ("title~'T' AND identifier>='c'", "cde"),
            ("type='text-entry'", "f"),
            ("type!='choice' OR identifier='a'", "af"),
            ("(identifier='a' OR identifier='b') AND title='T8'", "b"),
            ("identifier='a' OR identifier='b' AND title='T7'", "a"),
            ("metadata.grade>=3", "de"),
            ("metadata.grade=2", "c"),
            ("metadata.difficulty='hard'", "de"),
            ("metadata.difficulty!='hard'", "abcf"),
            ("metadata.difficulty~'AS'", "bc"),
            ("metadata.set.name='O''Brien' AND metadata.grade<2", "b"),
            ("metadata.nothing='x'", ""),
            ("adaptive=false AND timeDependent=false AND version=1 AND qtiVersion='3.0'", "abcdef"),
            ("createdAt>='2020-01-01' AND updatedAt<'2020-01-01T00:00:00Z'", ""),
            ("createdAt>='2020-01-01'", "abcdef"),
        ] {
            assert_eq!(filtered(filter), wanted, "{filter}");
        }
        let both = get(&client, "/assessment-items?filter=type='choice'&query=t5&sort=title");
        assert_eq!((ids(&both), &both["total"]), ("e".to_owned(), &json!(1)));
        for wrong in [
            "nothing='x'",
            "identifier",
            "createdAt='soon'",
            "createdAt~'2020'",
            "version='x'",
            "title=",
            "metadata.='x'",
            "metadata.a%27b='x'",
            "identifier='a' AND",
            "((identifier='a')",
        ] {
            let wrong = wrong.replace(' ', "%20");
            client.get(&format!("/assessment-items?filter={wrong}")).expect(400);
        }
    });
}
