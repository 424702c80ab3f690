//! Planted records for the screens about learning: a class with its course, a badge and an import.

use lyceum_blob::{Blobs, Digest};
use lyceum_core::Reach;
use lyceum_roster::imports::{self, ImportOutcome, NewImport};
use lyceum_testserver::server::TestServer;
use serde_json::{Value, json};

use super::planted::{EVIL, Planted};

const ROSTERING: &str = "/ims/oneroster/rostering/v1p2";

/// A course with a component, and a class in which the planted student learns.
pub(super) fn classes(server: &TestServer, planted: &mut Planted) {
    let client = server.client();
    let course = json!({ "course": {
        "sourcedId": "evil", "title": EVIL, "courseCode": EVIL, "subjects": [EVIL],
        "org": { "sourcedId": "evil" },
    }});
    client.post(&format!("{ROSTERING}/courses")).json(&course).expect(201);
    let component = json!({ "courseComponent": {
        "sourcedId": "evil", "title": EVIL, "course": { "sourcedId": "evil" }, "sortOrder": 1,
    }});
    client.post(&format!("{ROSTERING}/courses/components")).json(&component).expect(201);
    client.post("/bridge/enrollments/enroll/evil/evil/evil").json(&json!({})).send();
    let found: Value = client.get(&format!("{ROSTERING}/classes")).expect(200).json();
    let class = found["classes"][0]["sourcedId"].as_str().unwrap();
    planted.params.insert("/classes/{id}", class.to_owned());
    planted.params.insert("/courses/{id}", "evil".into());
    planted.params.insert("/system/hours/{org}", "evil".into());
    planted.shown_on.extend(["/system/hours", "/system/hours/{org}"]);
    planted.shown_on.extend(["/classes", "/classes/{id}", "/courses", "/courses/{id}"]);
}

/// A lesson of that course, in which the planted student answered with the planted name.
pub(super) fn lesson(server: &TestServer, planted: &mut Planted) {
    let client = server.client();
    let title = EVIL.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let xml = r#"<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="evil" title="TITLE" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="string"/>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
  <qti-item-body><p><qti-text-entry-interaction response-identifier="RESPONSE"/></p></qti-item-body>
</qti-assessment-item>"#
        .replace("TITLE", &title);
    let metadata = json!({ "difficulty": "easy", "humanApproved": true });
    let question = json!({ "format": "xml", "xml": xml, "metadata": metadata });
    client.post("/assessment-items").json(&question).expect(201);
    crate::qti_structure::test(&client, "evil", &["evil"]);
    let resource = json!({ "resource": {
        "sourcedId": "evil", "title": EVIL, "vendorResourceId": "evil",
        "metadata": { "type": "qti", "subType": "qti-test", "xp": 1, "subject": "Math", "grades": ["3"],
            "url": "https://content.example.org/assessment-tests/evil" },
    }});
    client.post("/ims/oneroster/resources/v1p2/resources").json(&resource).expect(201);
    let lesson = json!({ "componentResource": {
        "sourcedId": "evil", "title": EVIL, "courseComponent": { "sourcedId": "evil" },
        "resource": { "sourcedId": "evil" }, "sortOrder": 1, "lessonType": "powerpath-100",
    }});
    client.post(&format!("{ROSTERING}/courses/component-resources")).json(&lesson).expect(201);
    client.get("/powerpath/getNextQuestion?student=evil&lesson=evil").expect(200);
    let given = json!({
        "student": "evil", "lesson": "evil", "question": "evil", "responses": { "RESPONSE": EVIL },
    });
    client.put("/powerpath/updateStudentQuestionResponse").json(&given).expect(200);
    planted.queries.insert("/students/{id}/attempt", vec!["lesson=evil&attempt=1".into()]);
    planted.params.insert("/items/{id}", "evil".into());
    let picture = client.put("/assessment-items/evil/files/a.png").body("image/png", "pixels");
    let picture: Value = picture.expect(200).json();
    let name = format!("{}.png", picture["sha256"].as_str().unwrap());
    planted.params.insert("/items/{id}/files/{file}", name);
    // A file, not a page: the preview of the item shows it.
    planted.elsewhere.push("/items/{id}/files/{file}".into());
    planted.shown_on.extend(["/students/{id}/attempt", "/items/{id}/preview"]);
}

/// A badge that the planted student earned.
pub(super) fn badges(server: &TestServer, planted: &mut Planted) {
    let client = server.client();
    let mut definition = crate::badges::definition();
    definition["name"] = EVIL.into();
    definition["credentialSubject"]["name"] = EVIL.into();
    client.post("/ims/ob/v3p0/badges").json(&definition).expect(201);
    let award = json!({
        "achievementId": definition["credentialSubject"]["id"], "userId": "evil", "narrative": EVIL,
    });
    let issued: Value = client.post("/ims/ob/v3p0/issue-badge").json(&award).expect(201).json();
    let id = issued["id"].as_str().unwrap().rsplit('/').next().unwrap();
    planted.params.insert("/badges/credentials/{id}", id.to_owned());
    let record = json!({
        "@context": ["https://www.w3.org/2018/credentials/v1", "https://purl.imsglobal.org/spec/clr/v2p0/context.json"],
        "id": "https://example.org/clr/1", "type": ["VerifiableCredential", "ClrCredential"], "name": EVIL,
        "issuer": { "id": "https://example.org/issuers/1", "name": EVIL },
        "credentialSubject": {
            "id": "https://lyceum.test/ims/oneroster/rostering/v1p2/users/evil", "type": ["LearnerProfile"],
            "achievement": [{ "id": "https://example.org/a", "type": ["Achievement"], "name": EVIL, "description": EVIL }],
        },
    });
    client.post("/ims/clr/v2p0/credentials").json(&record).expect(201);
    let id = "https%3A%2F%2Fexample.org%2Fclr%2F1";
    planted.params.insert("/badges/records/{id}", id.to_owned());
    planted.queries.insert("/badges/issue", vec!["learner=evil".into(), String::new()]);
    planted.shown_on.extend([
        "/badges",
        "/badges/definitions",
        "/badges/issue",
        "/badges/records",
        "/badges/records/{id}",
        "/badges/credentials/{id}",
    ]);
}

/// A checked import with an error.
pub(super) fn imports(server: &TestServer, planted: &mut Planted) {
    let now = server.setup().clock.now();
    let refused = b"file,line,column,value,problem,remedy,row\n";
    let rejects = Digest::of(refused);
    let blobs = Blobs::on_disk(server.setup().config.store.data.join("hosting")).unwrap();
    blobs.put(&rejects, &refused[..]).unwrap();
    let text = format!("file,line,id,came\norgs,2,\"{}\",rejected\n", EVIL.replace('"', "\"\""));
    let noted = Digest::of(text.as_bytes());
    blobs.put(&noted, text.as_bytes()).unwrap();
    let report = json!({
        "committed": false, "fault_count": 1, "ignored": [EVIL], "noted": noted.to_string(),
        "files": [{ "file": "orgs", "rows": 1, "rejected": 1 }],
        "faults": [{ "file": "orgs.csv", "line": 2, "column": EVIL, "value": EVIL, "problem": EVIL, "remedy": EVIL }],
    });
    let rejects = rejects.to_string();
    let planting = server.db().write_blocking(|tx| {
        let new = NewImport {
            name: EVIL,
            bytes: 1,
            file: &rejects,
            who: EVIL,
            reach: &Reach::Everything,
        };
        let id = imports::add(tx, now, &new)?;
        let (job, import) = imports::claim(tx)?.expect("it was just added");
        let outcome = ImportOutcome { report: Some(&report), rejects: Some(&rejects), error: None };
        imports::store_outcome(tx, now, &job, &import, &outcome)?;
        Ok(id)
    });
    planted.params.insert("/imports/{id}", planting.unwrap().to_string());
    let file = form_urlencoded::Serializer::new(String::new()).append_pair("file", EVIL).finish();
    planted.queries.insert("/imports/{id}/rows", vec!["file=orgs".into(), file]);
    planted.shown_on.extend(["/imports", "/imports/{id}", "/imports/{id}/rows"]);
}
