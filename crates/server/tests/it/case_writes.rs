//! Writes of standards: whole packages, single records, and what is refused.
use lyceum_standards::limits;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

use crate::case::{FRAMEWORK, association, child_of, get, item, link, new_item, package, store};

const BASE: &str = "/ims/case/v1p1";

/// The paths of a refusal's faults.
fn faults(client: &TestClient, body: &Value, status: u16) -> Vec<String> {
    let reply = client.post(&format!("{BASE}/CFPackages")).json(body).expect(status);
    let response: Value = reply.json();
    let details = response["imsx_error_details"].as_array().cloned().unwrap_or_default();
    details.iter().map(|at| at["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_error_in_a_package_has_its_path() {
    both(|server| {
        let client = server.client();
        let mut wrong = package();
        wrong["CFDocument"].as_object_mut().unwrap().remove("creator");
        wrong["CFDocument"]["caseVersion"] = "2.0".into();
        wrong["CFItems"][0]["identifier"] = "7E000000-0000-4000-8000-000000000001".into();
        wrong["CFItems"][1]["uri"] = "no uri".into();
        wrong["CFItems"][2]["educationLevel"] = "KG".into();
        wrong["CFAssociations"][0]["associationType"] = "isUncleOf".into();
        wrong["CFAssociations"][1]["originNodeURI"]["colour"] = "red".into();
        wrong["CFAssociations"][2]["sequenceNumber"] = json!(1.5);
        wrong["CFDefinitions"]["CFLicenses"][0]["lastChangeDateTime"] = "2026-01-15".into();
        wrong["CFRubrics"][0]["CFRubricCriteria"][0]["weight"] = "heavy".into();
        assert_eq!(
            faults(&client, &wrong, 422),
            [
                "CFDocument.caseVersion",
                "CFDocument.creator",
                "CFItems[0].identifier",
                "CFItems[1].uri",
                "CFItems[2].educationLevel",
                "CFAssociations[0].associationType",
                "CFAssociations[1].originNodeURI.colour",
                "CFAssociations[2].sequenceNumber",
                "CFDefinitions.CFLicenses[0].lastChangeDateTime",
                "CFRubrics[0].CFRubricCriteria[0].weight",
            ]
        );
        assert_eq!(get(&client, "/CFDocuments"), json!({ "CFDocuments": [] }), "nothing is kept");
    });
}

#[test]
fn associations_have_targets_and_no_cycles() {
    both(|server| {
        let client = server.client();
        let with = |associations: Value| {
            let mut changed = package();
            changed["CFAssociations"] = associations;
            changed
        };
        let circle = with(json!([
            child_of(1, &item(1), FRAMEWORK),
            child_of(2, &item(2), &item(1)),
            child_of(3, &item(1), &item(2)),
        ]));
        assert_eq!(
            faults(&client, &circle, 422),
            ["CFAssociations[1].destinationNodeURI", "CFAssociations[2].destinationNodeURI"]
        );
        let nowhere = with(json!([child_of(1, &item(1), &item(77))]));
        assert_eq!(
            faults(&client, &nowhere, 422),
            ["CFAssociations[0].destinationNodeURI.identifier"]
        );
        let mut elsewhere = child_of(1, &item(70), &item(71));
        elsewhere["associationType"] = "exactMatchOf".into();
        assert_eq!(
            faults(&client, &with(json!([elsewhere.clone()])), 422),
            ["CFAssociations[0].originNodeURI.identifier"]
        );
        elsewhere["originNodeURI"] = link("here", &item(1));
        client.post(&format!("{BASE}/CFPackages")).json(&with(json!([elsewhere]))).expect(201);
        let twice =
            with(json!([child_of(1, &item(1), FRAMEWORK), child_of(1, &item(2), FRAMEWORK)]));
        assert_eq!(faults(&client, &twice, 422), ["CFAssociations[1].identifier"]);
        // As deep as may be, and one deeper.
        for (levels, status) in
            [(limits::CASE_TREE_MAX_LEVELS, 200), (limits::CASE_TREE_MAX_LEVELS + 1, 422)]
        {
            let numbers = 1..u32::try_from(levels).unwrap();
            let mut deep = package();
            deep["CFItems"] = numbers.clone().map(|n| new_item(n, "c", "1", "s")).collect();
            let parent = |n: u32| if n == 1 { FRAMEWORK.to_owned() } else { item(n - 1) };
            deep["CFAssociations"] = numbers.map(|n| child_of(n, &item(n), &parent(n))).collect();
            client.put(&format!("{BASE}/CFPackages/{FRAMEWORK}")).json(&deep).expect(status);
        }
    });
}

#[test]
fn a_package_is_replaced_whole_or_not_at_all() {
    both(|server| {
        let client = server.client();
        let path = format!("{BASE}/CFPackages/{FRAMEWORK}");
        client.put(&path).json(&package()).expect(404);
        store(&client);
        client.post(&format!("{BASE}/CFPackages")).json(&package()).expect(200);
        let mut other = package();
        other["CFDocument"]["identifier"] = item(50).into();
        assert_eq!(
            faults(&client, &other, 409)[..2],
            ["CFItems[0].identifier", "CFItems[1].identifier"]
        );
        client.put(&path).json(&other).expect(422);
        let mut less = package();
        less["CFItems"].as_array_mut().unwrap().remove(2);
        client.put(&path).json(&less).expect(422); // its associations lead to what is gone
        assert_eq!(get(&client, "/CFItems")["CFItems"].as_array().unwrap().len(), 3);
        less["CFAssociations"].as_array_mut().unwrap().truncate(2);
        client.put(&path).json(&less).expect(200);
        assert_eq!(get(&client, "/CFItems")["CFItems"].as_array().unwrap().len(), 2);
        client.get(&format!("{BASE}/CFItems/{}", item(3))).expect(404);
        client.delete(&format!("{BASE}/CFDocuments/{FRAMEWORK}")).expect(204);
        for gone in [
            path,
            format!("{BASE}/CFItems/{}", item(1)),
            format!("{BASE}/CFAssociations/{}", association(1)),
        ] {
            client.get(&gone).expect(404);
        }
        client.delete(&format!("{BASE}/CFDocuments/{FRAMEWORK}")).expect(404);
    });
}

#[test]
fn single_records_are_added_changed_and_removed() {
    both(|server| {
        let client = server.client();
        store(&client);
        let mut new = new_item(9, "3.OA", "3", "Multiply");
        client.post(&format!("{BASE}/CFItems")).json(&new).expect(422);
        new["CFDocumentURI"] = link("Mathematics", FRAMEWORK);
        new["colour"] = "red".into();
        let reply = client.post(&format!("{BASE}/CFItems")).json(&new).expect(201);
        assert!(reply.header("location").ends_with(&item(9)));
        client.post(&format!("{BASE}/CFItems")).json(&new).expect(200);
        let read = get(&client, &format!("/CFItems/{}", item(9)));
        assert_eq!(
            (&read["CFItem"]["colour"], &read["CFItem"]["fullStatement"]),
            (&json!("red"), &json!("Multiply"))
        );
        let changed = get(&client, &format!("/CFDocuments/{FRAMEWORK}"));
        assert_ne!(
            changed["CFDocument"]["lastChangeDateTime"],
            package()["CFDocument"]["lastChangeDateTime"]
        );

        // What is read can be sent back.
        let mut sent = read.clone();
        sent["CFItem"]["fullStatement"] = "Divide".into();
        client.put(&format!("{BASE}/CFItems/{}", item(9))).json(&sent).expect(200);
        client.put(&format!("{BASE}/CFItems/{}", item(8))).json(&sent).expect(422);
        let read = get(&client, &format!("/CFItems/{}", item(9)));
        assert_eq!(read["CFItem"]["fullStatement"], "Divide");

        let mut up = child_of(9, &item(9), &item(2));
        up.as_object_mut().unwrap().remove("identifier");
        up.as_object_mut().unwrap().remove("uri");
        let created: Value =
            client.post(&format!("{BASE}/CFAssociations")).json(&up).expect(201).json();
        let id = created["CFAssociation"]["sourcedId"].as_str().unwrap().to_owned();
        assert_eq!(get(&client, &format!("/CFAssociations/{id}")), created);
        let circle = child_of(10, &item(1), &item(9));
        client.post(&format!("{BASE}/CFAssociations")).json(&circle).expect(422);
        let other = child_of(10, &item(9), &item(3));
        client.put(&format!("{BASE}/CFAssociations/{id}")).json(&other).expect(422);
        let mut other = other;
        other["identifier"] = id.as_str().into();
        client.put(&format!("{BASE}/CFAssociations/{id}")).json(&other).expect(200);
        let tree = get(&client, &format!("/CFPackages/{FRAMEWORK}/groups"));
        let below = &tree["CFPackageWithGroups"]["structuredContent"][""][0]["childGroups"][""][0];
        assert_eq!(below["sourcedId"], item(9));

        client.delete(&format!("{BASE}/CFItems/{}", item(9))).expect(204);
        client.get(&format!("{BASE}/CFAssociations/{id}")).expect(404);
        client.delete(&format!("{BASE}/CFAssociations/{}", association(2))).expect(204);
        server.restart();
        let package = get(&client, &format!("/CFPackages/{FRAMEWORK}"));
        assert_eq!(package["CFPackage"]["CFAssociations"].as_array().unwrap().len(), 3);
        assert_eq!(package["CFPackage"]["CFItems"].as_array().unwrap().len(), 3);
    });
}

#[test]
fn invalid_packages_are_refused() {
    both(|server| {
        let client = server.client();
        let path = format!("{BASE}/CFPackages");
        for wrong in ["", "{", "[]", "7", r#"{"CFDocument": 7}"#, r#"{"CFItems": {}}"#] {
            let status = client.post(&path).body("application/json", wrong).send().status;
            assert!(matches!(status, 400 | 422), "{wrong}: {status}");
        }
        let mut nul = package();
        nul["CFDocument"]["title"] = "a\0b".into();
        assert_eq!(faults(&client, &nul, 422), ["CFDocument.title"]);
        let many: Vec<Value> = vec![json!({}); limits::CASE_ITEMS_MAX_RECORDS + 1];
        let many = json!({ "CFDocument": package()["CFDocument"], "CFItems": many });
        client.post(&path).json(&many).expect(413);
    });
}

#[test]
fn the_same_body_again_is_a_safe_retry_and_another_one_a_conflict() {
    both(|server| {
        let client = server.client();
        let send = |class: &str, body: &Value, status: u16| -> Value {
            client.post(&format!("{BASE}/{class}")).json(body).expect(status).json()
        };
        let first = send("CFPackages", &package(), 201);
        assert_eq!(send("CFPackages", &package(), 200), first, "it is answered as before");
        for change in [
            "/CFDocument/title",
            "/CFItems/0/fullStatement",
            "/CFAssociations/0/lastChangeDateTime",
        ] {
            let mut other = package();
            *other.pointer_mut(change).unwrap() = "2026-02-02T02:02:02.000Z".into();
            let text = send("CFPackages", &other, 409).to_string();
            assert!(text.contains("exists already with other values"), "{change}: {text}");
        }
        let mut smaller = package();
        smaller["CFRubrics"] = json!([]);
        send("CFPackages", &smaller, 409);

        let item = json!({"CFItem": {"identifier": "aaaaaaaa-0000-4000-8000-000000000001",
            "fullStatement": "Count to 10", "CFDocumentURI": {"identifier": FRAMEWORK}}});
        let created = send("CFItems", &item, 201);
        assert_eq!(send("CFItems", &item, 200), created);
        let mut other = item.clone();
        other["CFItem"]["fullStatement"] = "Count to 100".into();
        send("CFItems", &other, 409);
        let text = send("CFPackages", &package(), 409).to_string();
        assert!(
            text.contains("exists already with other values"),
            "an item came to it since: {text}"
        );

        let document = json!({"CFDocument": {"identifier": "aaaaaaaa-0000-4000-8000-000000000002",
            "title": "Arts", "creator": "A"}});
        let created = send("CFDocuments", &document, 201);
        assert_eq!(send("CFDocuments", &document, 200), created);
        let mut other = document.clone();
        other["CFDocument"]["title"] = "Music".into();
        send("CFDocuments", &other, 409);

        let node = |id: &str| json!({"identifier": id, "title": "x", "uri": format!("https://x.example/{id}")});
        let association = json!({"CFAssociation": {"identifier": "aaaaaaaa-0000-4000-8000-000000000003",
            "associationType": "isChildOf", "originNodeURI": node("aaaaaaaa-0000-4000-8000-000000000001"),
            "destinationNodeURI": node(FRAMEWORK)}});
        let created = send("CFAssociations", &association, 201);
        assert_eq!(send("CFAssociations", &association, 200), created);
        let mut other = association.clone();
        other["CFAssociation"]["sequenceNumber"] = 2.into();
        send("CFAssociations", &other, 409);
    });
}
