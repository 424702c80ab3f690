//! Ids for the parts of a credential that have none. To compare parts without ids, the canonical form tries all orders of
//! those that look alike, so a record with hundreds of them takes other verifiers minutes. An `IdentifierEntry` gets none:
//! its schema forbids that.

use serde_json::Value;
use uuid::Uuid;

/// Under this namespace an id follows from content: an update does not make another node of what stays.
pub(crate) const NAMESPACE: Uuid = Uuid::from_u128(0x1b0f_7c5e_2a94_4e0b_8f36_6c1d_94e2_50aa);

/// The members whose values get an id from their content.
const LISTED: [&str; 3] = ["alignment", "evidence", "result"];

/// Adds the missing ids to a credential that is not signed yet. Signed credentials in it stay as they are. `page` is the
/// address that shows the criteria; without one, they are named after their achievement.
pub(crate) fn add(value: &mut Value, page: Option<&str>) {
    match value {
        Value::Array(members) => members.iter_mut().for_each(|member| add(member, page)),
        Value::Object(object) if !object.contains_key("proof") => {
            let own = object.get("id").and_then(Value::as_str).map(str::to_owned);
            for name in LISTED {
                match object.get_mut(name) {
                    Some(Value::Array(members)) => members.iter_mut().for_each(add_of_content),
                    Some(one) => add_of_content(one),
                    None => {}
                }
            }
            if let Some(criteria) = object.get_mut("criteria").and_then(Value::as_object_mut)
                && !criteria.contains_key("id")
                && let Some(address) = page.or(own.as_deref().filter(|id| id.starts_with("http")))
            {
                criteria.insert("id".to_owned(), format!("{address}#criteria").into());
            }
            object.values_mut().for_each(|member| add(member, page));
        }
        _ => {}
    }
}

fn add_of_content(value: &mut Value) {
    let content = value.to_string();
    if let Value::Object(object) = value
        && !object.contains_key("id")
    {
        let id = Uuid::new_v5(&NAMESPACE, content.as_bytes()).urn().to_string();
        object.insert("id".to_owned(), id.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn parts_without_an_id_get_one_unless_they_are_signed() {
        let alignment =
            json!({"type": ["Alignment"], "targetName": "A", "targetUrl": "https://a.example/1"});
        let signed = json!({"proof": {}, "credentialSubject": {"result": [{"value": "1"}]}});
        let mut record = json!({"credentialSubject": {
            "identifier": [{"type": "IdentifierEntry", "identifier": "1"}],
            "achievement": [{"id": "https://a.example/a", "criteria": {"narrative": "x"}, "alignment": [alignment]}],
            "verifiableCredential": [signed, {"credentialSubject": {"result": {"value": "1"}}}],
        }});
        super::add(&mut record, None);
        let subject = &record["credentialSubject"];
        let achievement = &subject["achievement"][0];
        assert_eq!(achievement["criteria"]["id"], "https://a.example/a#criteria");
        assert!(achievement["alignment"][0]["id"].as_str().unwrap().starts_with("urn:uuid:"));
        assert_eq!(subject["verifiableCredential"][0], signed);
        let result = &subject["verifiableCredential"][1]["credentialSubject"]["result"];
        assert!(result["id"].is_string());
        assert!(subject["identifier"][0].get("id").is_none());
        let before = record.clone();
        super::add(&mut record, None);
        assert_eq!(record, before);
    }
}
