//! CASE over HTTP: packages in, the reads of the standard out, in both dialects and versions.

use lyceum_access::Scope;
use lyceum_core::PayloadDialect;
use lyceum_testserver::client::TestClient;
use lyceum_testserver::server::both;
use serde_json::{Value, json};

/// The framework of most tests.
pub(crate) const FRAMEWORK: &str = "7e000000-0000-4000-8000-000000000001";
/// Its concept 'Number', with a child.
const CONCEPT: &str = "7e000000-0000-4000-8000-0000000000c1";
const RUBRIC: &str = "7e000000-0000-4000-8000-0000000000d1";
const WHEN: &str = "2026-01-15T08:00:00+00:00";

/// The identifier of an item.
pub(crate) fn item(number: u32) -> String {
    format!("7e000000-0000-4000-8000-1{number:011}")
}

/// The identifier of an association.
pub(crate) fn association(number: u32) -> String {
    format!("7e000000-0000-4000-8000-a{number:011}")
}

pub(crate) fn link(title: &str, id: &str) -> Value {
    json!({ "title": title, "identifier": id, "uri": format!("https://example.org/{id}") })
}

/// An item of a code, a grade and a statement.
pub(crate) fn new_item(number: u32, code: &str, grade: &str, statement: &str) -> Value {
    let id = item(number);
    json!({
        "identifier": id, "uri": format!("https://example.org/items/{id}"), "lastChangeDateTime": WHEN,
        "humanCodingScheme": code, "fullStatement": statement, "educationLevel": [grade],
    })
}

/// `child` isChildOf `parent`.
pub(crate) fn child_of(number: u32, child: &str, parent: &str) -> Value {
    json!({
        "identifier": association(number), "uri": "https://example.org/a", "lastChangeDateTime": WHEN,
        "associationType": "isChildOf", "sequenceNumber": number,
        "originNodeURI": link("child", child), "destinationNodeURI": link("parent", parent),
    })
}

fn definition(id: &str, more: &Value) -> Value {
    let mut one = json!({
        "identifier": id, "uri": "https://example.org/d", "title": "Number", "lastChangeDateTime": WHEN,
    });
    for (name, value) in more.as_object().unwrap() {
        one[name] = value.clone();
    }
    one
}

/// A package with every list, extensions, and what only 1.1 has.
pub(crate) fn package() -> Value {
    let mut first = new_item(1, "3.NF", "03", "Develop understanding of fractions as numbers");
    first["CFItemType"] = "Cluster".into();
    first["subject"] = json!(["Math"]);
    first["extensions"] = json!({ "identifier": "kept", "level": 2.0 });
    let second =
        new_item(2, "3.NF.A.1", "03", "Understand a fraction 1/b with \"identifier\": {x}");
    let third = new_item(3, "K.CC", "KG", "Know number names and the count sequence");
    let mut translated = child_of(4, &item(2), &item(3));
    translated["associationType"] = "isTranslationOf".into();
    translated["notes"] = "made for 1.1".into();
    json!({
        "CFDocument": {
            "identifier": FRAMEWORK, "uri": format!("https://example.org/{FRAMEWORK}"),
            "creator": "State board", "title": "Mathematics", "lastChangeDateTime": WHEN,
            "caseVersion": "1.1", "frameworkType": "K12", "subject": ["Math"],
            "extensions": { "wave": 1 },
        },
        "CFItems": [first, second, third],
        "CFAssociations": [
            child_of(1, &item(1), FRAMEWORK), child_of(2, &item(2), &item(1)),
            child_of(3, &item(3), FRAMEWORK), translated,
        ],
        "CFDefinitions": {
            "CFConcepts": [
                definition(CONCEPT, &json!({ "hierarchyCode": "1" })),
                definition("7e000000-0000-4000-8000-0000000000c2", &json!({ "hierarchyCode": "1.1" })),
                definition("7e000000-0000-4000-8000-0000000000c3", &json!({ "hierarchyCode": "10" })),
            ],
            "CFSubjects": [definition("7e000000-0000-4000-8000-0000000000e1", &json!({ "hierarchyCode": "1" }))],
            "CFLicenses": [definition("7e000000-0000-4000-8000-0000000000e2", &json!({ "licenseText": "CC BY" }))],
            "CFItemTypes": [definition(
                "7e000000-0000-4000-8000-0000000000e3", &json!({ "hierarchyCode": "1", "description": "d" }))],
            "CFAssociationGroupings": [definition("7e000000-0000-4000-8000-0000000000e4", &json!({}))],
        },
        "CFRubrics": [{
            "identifier": RUBRIC, "uri": "https://example.org/r", "lastChangeDateTime": WHEN,
            "CFRubricCriteria": [{
                "identifier": "7e000000-0000-4000-8000-0000000000d2", "uri": "https://example.org/c",
                "lastChangeDateTime": WHEN, "weight": 0.5, "extensions": { "identifier": "mine" },
                "CFRubricCriterionLevels": [{
                    "identifier": "7e000000-0000-4000-8000-0000000000d3", "uri": "https://example.org/l",
                    "lastChangeDateTime": WHEN, "score": 1.0, "extensions": [{ "a": 1 }],
                }],
            }],
        }],
        "extensions": { "made": "by hand" },
    })
}

/// Stores the package.
pub(crate) fn store(client: &TestClient) {
    client.post("/ims/case/v1p1/CFPackages").json(&package()).expect(201);
}

/// A `GET` below the address of CASE 1.1.
pub(crate) fn get(client: &TestClient, path: &str) -> Value {
    client.get(&format!("/ims/case/v1p1{path}")).expect(200).json()
}

#[test]
fn a_package_is_stored_and_read_as_it_was_sent() {
    both(|server| {
        let platform = server.client();
        let created: Value =
            platform.post("/ims/case/v1p1/CFPackages").json(&package()).expect(201).json();
        assert_eq!(
            created["result"],
            json!({"documentId": FRAMEWORK, "stats": {"documents": 1, "items": 3, "associations": 4}, "success": true})
        );
        let standard = server.client_with(&[], PayloadDialect::Standard);
        let path = format!("/CFPackages/{FRAMEWORK}");
        assert_eq!(get(&standard, &path), package());
        server.restart();
        assert_eq!(get(&standard, &path), package());
        // What 1.1 brought is not in 1.0, and associations of its types are not either.
        let old: Value = standard.get(&format!("/ims/case/v1p0{path}")).expect(200).json();
        assert_eq!(old["CFDocument"].get("caseVersion"), None);
        assert_eq!(old["CFItems"][0].get("subject"), None);
        assert_eq!(old["CFItems"][0].get("extensions"), None);
        assert_eq!(old["CFAssociations"].as_array().unwrap().len(), 3);
        assert_eq!(old["CFRubrics"][0]["CFRubricCriteria"][0].get("extensions"), None);
        assert_eq!(old.get("extensions"), None);
        let lost = format!("/ims/case/v1p0/CFAssociations/{}", association(4));
        standard.get(&lost).expect(404);
    });
}

#[test]
fn the_platform_reads_wrapped_records_with_a_sourced_id() {
    both(|server| {
        let client = server.client();
        store(&client);
        let package = get(&client, &format!("/CFPackages/{FRAMEWORK}"));
        let package = &package["CFPackage"];
        assert_eq!(package["sourcedId"], FRAMEWORK);
        assert_eq!(package["CFDocument"]["CFPackageURI"]["sourcedId"], FRAMEWORK);
        assert_eq!(package["CFAssociations"][0]["originNodeURI"]["sourcedId"], item(1));
        let first = &package["CFItems"][0];
        assert_eq!((&first["sourcedId"], first.get("identifier")), (&json!(item(1)), None));
        assert_eq!(first["extensions"]["identifier"], "kept");
        assert_eq!(package["CFItems"][1]["CFItemType"], "");
        assert_eq!(
            package["CFItems"][1]["fullStatement"],
            "Understand a fraction 1/b with \"identifier\": {x}"
        );
        let rubric = get(&client, &format!("/CFRubrics/{RUBRIC}"));
        let criterion = &rubric["CFRubric"]["CFRubricCriteria"][0];
        assert_eq!(criterion["sourcedId"], "7e000000-0000-4000-8000-0000000000d2");
        assert_eq!(criterion["extensions"], json!({ "identifier": "mine" }));

        let one = get(&client, &format!("/CFItems/{}", item(2)));
        assert_eq!(one["CFItem"]["humanCodingScheme"], "3.NF.A.1");
        assert_eq!(one["CFItem"]["CFDocumentURI"]["sourcedId"], FRAMEWORK);
        let list = get(&client, "/CFDocuments");
        assert_eq!(list["CFDocuments"][0]["title"], "Mathematics");
        let one = get(&client, &format!("/CFAssociations/{}", association(2)));
        assert_eq!(one["CFAssociation"]["associationType"], "isChildOf");
        let both = get(&client, &format!("/CFItemAssociations/{}", item(1)));
        assert_eq!(both["CFItem"]["sourcedId"], item(1));
        assert_eq!(both["CFAssociations"].as_array().unwrap().len(), 2);
    });
}

#[test]
fn definitions_come_with_their_children() {
    both(|server| {
        let client = server.client_with(&[Scope::StandardsRead], PayloadDialect::Standard);
        store(&server.client());
        let set = get(&client, &format!("/CFConcepts/{CONCEPT}"));
        let codes: Vec<_> =
            set["CFConcepts"].as_array().unwrap().iter().map(|one| &one["hierarchyCode"]).collect();
        assert_eq!(codes, ["1", "1.1"]);
        for (list, id) in [("CFSubjects", "e1"), ("CFItemTypes", "e3")] {
            let set = get(&client, &format!("/{list}/7e000000-0000-4000-8000-0000000000{id}"));
            assert_eq!(set[list].as_array().unwrap().len(), 1);
        }
        for (list, id) in
            [("CFLicenses", "e2"), ("CFAssociationGroupings", "e4"), ("CFRubrics", "d1")]
        {
            let id = format!("7e000000-0000-4000-8000-0000000000{id}");
            assert_eq!(get(&client, &format!("/{list}/{id}"))["identifier"], id);
        }
    });
}

#[test]
fn groups_are_the_tree_by_type() {
    both(|server| {
        let client = server.client();
        store(&client);
        let tree = get(&client, &format!("/CFPackages/{FRAMEWORK}/groups"));
        let tree = &tree["CFPackageWithGroups"];
        assert_eq!(tree["sourcedId"], FRAMEWORK);
        let top = &tree["structuredContent"];
        assert_eq!(top["Cluster"][0]["sourcedId"], item(1));
        assert_eq!(top["Cluster"][0]["childGroups"][""][0]["sourcedId"], item(2));
        assert_eq!(top[""][0]["sourcedId"], item(3));
    });
}

#[test]
fn without_a_token_only_public_records_are_visible() {
    both(|server| {
        let (client, anonymous) = (server.client(), server.anonymous());
        store(&client);
        let paths = [
            format!("/CFDocuments/{FRAMEWORK}"),
            format!("/CFPackages/{FRAMEWORK}"),
            format!("/CFPackages/{FRAMEWORK}/groups"),
            format!("/CFItems/{}", item(1)),
            format!("/CFItemAssociations/{}", item(1)),
            format!("/CFAssociations/{}", association(1)),
            format!("/CFConcepts/{CONCEPT}"),
            format!("/CFRubrics/{RUBRIC}"),
        ];
        let all = ["/CFDocuments", "/CFItems", "/CFItems?search=fraction"];
        for version in ["v1p0", "v1p1"] {
            for path in &paths {
                anonymous.get(&format!("/ims/case/{version}{path}")).expect(404);
            }
            for path in all {
                let reply = anonymous.get(&format!("/ims/case/{version}{path}")).expect(200);
                assert_eq!(reply.header("x-total-count"), "0");
            }
        }
        let public = format!("/ims/case/v1p1/CFDocuments/{FRAMEWORK}/public");
        anonymous.put(&public).expect(401);
        client.put(&public).expect(204);
        for path in &paths {
            let read: Value = anonymous.get(&format!("/ims/case/v1p1{path}")).expect(200).json();
            assert!(!read.to_string().contains("sourcedId"), "{path}: {read}");
        }
        assert_eq!(
            get(&anonymous, "/CFItems?search=fraction")["CFItems"].as_array().unwrap().len(),
            2
        );
        // A package that takes its place stays public.
        client.put(&format!("/ims/case/v1p1/CFPackages/{FRAMEWORK}")).json(&package()).expect(200);
        anonymous.get(&format!("/ims/case/v1p1{}", paths[0])).expect(200);
        client.delete(&public).expect(204);
        anonymous.get(&format!("/ims/case/v1p1{}", paths[0])).expect(404);
    });
}

#[test]
fn errors_have_the_format_of_each_version() {
    both(|server| {
        let client = server.client_with(&[], PayloadDialect::Standard);
        let code_minor = |client: &TestClient, path: &str, status: u16| {
            let body: Value = client.get(path).expect(status).json();
            let value =
                &body["imsx_codeMinor"]["imsx_codeMinorField"][0]["imsx_codeMinorFieldValue"];
            value.as_str().unwrap().to_owned()
        };
        let nobody = server.anonymous().with_token("none");
        let unknown = item(99);
        for (version, wanted) in [
            ("v1p0", ["invaliduuid", "unauthorisedrequest"]),
            ("v1p1", ["invalid_uuid", "unauthorised_request"]),
        ] {
            let at = |path: &str| format!("/ims/case/{version}{path}");
            assert_eq!(code_minor(&client, &at("/CFItems/no-uuid"), 400), wanted[0]);
            assert_eq!(code_minor(&nobody, &at("/CFDocuments"), 401), wanted[1]);
            assert_eq!(
                code_minor(&client, &at(&format!("/CFItems/{unknown}")), 404),
                "unknownobject"
            );
            assert_eq!(
                code_minor(&client, &at("/CFDocuments?fields=nothing"), 400),
                "invalid_selection_field"
            );
            assert_eq!(
                code_minor(&client, &at("/CFDocuments?sort=nothing"), 400),
                "invalid_sort_field"
            );
        }
        let reader = server.client_with(&[Scope::RosterRead], PayloadDialect::Standard);
        assert_eq!(code_minor(&reader, "/ims/case/v1p1/CFDocuments", 403), "forbidden");
    });
}

#[test]
fn the_service_describes_itself() {
    both(|server| {
        let anonymous = server.anonymous();
        for (version, file) in
            [("v1p0", "imscasev1p0_openapi3_v1p0.json"), ("v1p1", "imscasev1p1_openapi3_v1p0.json")]
        {
            for path in ["", &format!("/{file}")] {
                let path = format!("/ims/case/{version}/discovery{path}");
                let document: Value = anonymous.get(&path).expect(200).json();
                assert!(document["paths"]["/CFPackages/{sourcedId}"]["get"].is_object());
            }
        }
    });
}
