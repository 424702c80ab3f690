//! Credentials of users in other systems, and the user profiles that name them.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result, limits, messages};
use lyceum_store::Tx;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::agents::{replace, user_fields};
use crate::record::Object;
use crate::repository::{self, Credential};

/// What is registered: a name and password in an application.
#[derive(Clone)]
pub struct Login {
    /// The other system.
    pub application: String,
    /// The user's name there.
    pub username: String,
    /// The password in the clear. This type has no `Debug` so that it never gets into a log.
    pub password: String,
}

/// The ids of a registered credential.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Registered {
    /// The `profileId` of the user profile that names the application.
    pub user_profile_id: String,
    /// The credential's own id.
    pub credential_id: String,
}

/// Under this namespace ids follow from user, application and name: to register a login again
/// replaces its password.
const NAMESPACE: Uuid = Uuid::from_u128(0x6b5d_0d5e_8f0f_4c0e_9a55_2f2b_8d3f_7c11);

impl Login {
    /// Reads `{applicationName, credentials: {username, password}}`, or a flat
    /// `{applicationName?, username, password}`, either also under `credential`.
    ///
    /// Errors: `Invalid` for what is missing, empty or too long.
    pub fn read(body: &Object) -> Result<Self> {
        let (outer, place) = match body.get("credential").and_then(Value::as_object) {
            Some(inner) => (inner, "credential."),
            None => (body, ""),
        };
        let (names, inner_place) = match outer.get("credentials").and_then(Value::as_object) {
            Some(inner) => (inner, format!("{place}credentials.")),
            None => (outer, place.to_owned()),
        };
        let application = match outer.get("applicationName").or_else(|| outer.get("type")) {
            None if !place.is_empty() => "default".to_owned(),
            given => text(given, format!("{place}applicationName"))?,
        };
        Ok(Self {
            application,
            username: text(names.get("username"), format!("{inner_place}username"))?,
            password: text(names.get("password"), format!("{inner_place}password"))?,
        })
    }
}

fn text(value: Option<&Value>, path: String) -> Result<String> {
    match value {
        Some(Value::String(text)) if text.is_empty() => {
            Err(Problem::invalid(path, messages::MUST_NOT_BE_EMPTY))
        }
        Some(Value::String(text)) if text.len() > limits::CREDENTIAL_TEXT_MAX_BYTES => {
            let most = limits::CREDENTIAL_TEXT_MAX_BYTES;
            Err(Problem::invalid(path, messages::too_long(most)))
        }
        Some(Value::String(text)) if text.contains('\0') => {
            Err(Problem::invalid(path, messages::MUST_NOT_CONTAIN_NUL))
        }
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(Problem::invalid(path, messages::MUST_BE_STRING)),
        None => Err(Problem::invalid(path, messages::required("a string"))),
    }
}

/// The id of a user's login; what seals its password is bound to it.
pub fn id(user: &str, login: &Login) -> String {
    // No text contains U+0000, so it can separate them.
    let name = format!("{user}\0{}\0{}", login.application, login.username);
    Uuid::new_v5(&NAMESPACE, name.as_bytes()).to_string()
}

/// Keeps a login, its password sealed by the caller, and names it in a profile of the user: one
/// profile an application.
///
/// Errors: `NotFound` for an unknown user.
pub fn register(
    tx: &mut Tx<'_>,
    user: &str,
    login: &Login,
    sealed: &[u8],
    now: Timestamp,
) -> Result<Registered> {
    let mut fields = user_fields(tx, user)?;
    let user_profile_id = name_in_profile(&mut fields, user, login)?;
    replace(tx, &fields, now)?;
    let credential = Credential {
        id: id(user, login),
        user: user.to_owned(),
        application: login.application.clone(),
        username: login.username.clone(),
        sealed: sealed.to_vec(),
    };
    repository::add_credential(tx, &credential, now)?;
    Ok(Registered { user_profile_id, credential_id: credential.id })
}

/// A user's credential, its password sealed. Errors: `NotFound`.
pub fn find(tx: &mut Tx<'_>, user: &str, id: &str) -> Result<Credential> {
    let credential = repository::credential(tx, user, id)?;
    credential.ok_or_else(|| Problem::not_found("credential of the user", id))
}

fn name_in_profile(fields: &mut Object, user: &str, login: &Login) -> Result<String> {
    let profiles = fields.entry("userProfiles").or_insert_with(|| json!([]));
    let profiles =
        profiles.as_array_mut().ok_or_else(|| Problem::internal("profiles are a list"))?;
    let of_application = |profile: &Value| {
        profile.get("applicationId").is_some_and(|known| known == login.application.as_str())
    };
    let at = match profiles.iter().position(of_application) {
        Some(at) => at,
        None => {
            let name = format!("{user}\0{}", login.application);
            let id = Uuid::new_v5(&NAMESPACE, name.as_bytes());
            profiles.push(json!({
                "profileId": id.urn().to_string(),
                "profileType": "application",
                "vendorId": login.application,
                "applicationId": login.application,
                "credentials": [],
            }));
            profiles.len() - 1
        }
    };
    let profile = &mut profiles[at];
    let profile_id = profile["profileId"].as_str().unwrap_or_default().to_owned();
    let named = json!({ "type": "password", "username": login.username });
    match profile.get_mut("credentials").and_then(Value::as_array_mut) {
        Some(credentials) if credentials.contains(&named) => {}
        Some(credentials) => credentials.push(named),
        None => profile["credentials"] = json!([named]),
    }
    Ok(profile_id)
}
