//! The public discovery documents of the Open Badges and CLR services: the routes of each, as OpenAPI.

use lyceum_access::Scope;
use lyceum_http::route::{Access, get};
use serde_json::{Map, Value, json};

use crate::openapi::{self, OpenApiDocument, described};
use crate::{Area, Context, Route};

pub(super) fn route() -> Route {
    get("/discovery", Access::Public, |context: Context| async move {
        let make =
            || description(&context, &super::areas()[0], "https://purl.imsglobal.org/spec/ob/");
        described(&context, "badges", make)
    })
    .named("discoverBadges")
    .description("Reads the description of the Open Badges service of this server, as OpenAPI.")
    .answers::<OpenApiDocument>(200, "The document.")
}

/// The document of one area, with the security scheme of the standard. `scopes` is the beginning of the names of its scopes.
pub(crate) fn description(context: &Context, area: &Area, scopes: &str) -> Value {
    let base_url = context.base_url();
    let mut document = openapi::discovery(area, base_url);
    document["openapi"] = "3.0.1".into();
    let scopes: Map<String, Value> = Scope::all()
        .filter(|scope| scope.name().starts_with(scopes))
        .map(|scope| (scope.name().to_owned(), scope.description().into()))
        .collect();
    document["info"] = json!({
        "title": "Lyceum",
        "version": env!("CARGO_PKG_VERSION"),
        "description": area.description,
        "termsOfService": format!("{base_url}/docs"),
        "x-imssf-privacyPolicyUrl": format!("{base_url}/docs"),
    });
    document["components"]["securitySchemes"]["OAuth2ACG"] = json!({
        "type": "oauth2",
        "description": "OAuth 2.0 Authorization Code Grant. The server issues tokens only for client credentials, and \
                        refuses requests to the other addresses.",
        "x-imssf-name": "Lyceum",
        "x-imssf-privacyPolicyUrl": format!("{base_url}/docs"),
        "x-imssf-registrationUrl": format!("{base_url}/oauth2/register"),
        "x-imssf-termsOfServiceUrl": format!("{base_url}/docs"),
        "flows": {
            "authorizationCode": {
                "tokenUrl": format!("{base_url}/oauth2/token"),
                "authorizationUrl": format!("{base_url}/oauth2/authorize"),
                "refreshUrl": format!("{base_url}/oauth2/token"),
                "scopes": scopes,
            },
        },
    });
    as_openapi_3_0(&mut document);
    document
}

/// Rewrites the schemas in a document of OpenAPI 3.1 as OpenAPI 3.0 has them: a JSON Schema of another draft, with
/// `nullable` instead of the type null.
fn as_openapi_3_0(value: &mut Value) {
    let Value::Object(rules) = value else {
        return value.as_array_mut().into_iter().flatten().for_each(as_openapi_3_0);
    };
    let is_null = |schema: &Value| *schema == json!({ "type": "null" }) || schema == "null";
    for list in ["type", "anyOf", "oneOf"] {
        let Some(Value::Array(all)) = rules.get_mut(list) else { continue };
        let count = all.len();
        all.retain(|one| !is_null(one));
        let (is_nullable, left) = (all.len() < count, all.clone());
        if is_nullable {
            rules.insert("nullable".into(), true.into());
        }
        match (list, left.as_slice()) {
            ("type", [one]) => drop(rules.insert("type".into(), one.clone())),
            ("type", _) => {
                rules.remove("type");
                let each = left.iter().map(|ty| json!({ "type": ty })).collect();
                rules.insert("anyOf".into(), each);
            }
            _ => {}
        }
    }
    if let Some(word) = rules.remove("const") {
        rules.insert("enum".into(), json!([word]));
    }
    if let Some(least) = rules.get("exclusiveMinimum").filter(|least| least.is_number()).cloned() {
        rules.insert("minimum".into(), least);
        rules.insert("exclusiveMinimum".into(), true.into());
    }
    for (rule, value) in rules {
        match value {
            // Names of members, not rules.
            Value::Object(members) if rule == "properties" => {
                members.values_mut().for_each(as_openapi_3_0);
            }
            value => as_openapi_3_0(value),
        }
    }
}
