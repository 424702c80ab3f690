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
    document["components"]["securitySchemes"] = json!({
        "OAuth2ACG": {
            "type": "oauth2",
            "description": "OAuth 2.0 Authorization Code Grant. These addresses are reserved for it; the server \
                            issues tokens only for client credentials.",
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
        },
        "client": {
            "type": "oauth2",
            "flows": {
                "clientCredentials": {
                    "tokenUrl": format!("{base_url}/oauth2/token"),
                    "scopes": every_scope(),
                },
            },
        },
    });
    document
}

fn every_scope() -> Map<String, Value> {
    Scope::all().map(|scope| (scope.name().to_owned(), scope.description().into())).collect()
}
