//! Credentials of users in other systems, and the user profiles that name them.

use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Reach, Result, messages};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::agents::{replace, user_fields};
use crate::kinds::USER;
use crate::limits;
use crate::reach;
use crate::record::Object;
use crate::repository::{self, Credential};

/// A user's login for another system.
#[derive(Clone)]
pub struct Login {
    /// The other system.
    pub application: String,
    /// The user's name there.
    pub username: String,
    /// The password in plain text. This type has no `Debug` so that it never gets into a log.
    pub password: String,
}

/// A user's login for another system: the application's name and the `credentials`. Clients may send username and
/// password beside the name instead, and the whole object under `credential`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginInput {
    /// The name of the other system. It is required outside of `credential`.
    #[schemars(length(min = 1, max = limits::CREDENTIAL_TEXT_MAX_CHARS))]
    application_name: Option<String>,
    /// Another name for `applicationName`.
    #[serde(rename = "type")]
    #[schemars(length(min = 1, max = limits::CREDENTIAL_TEXT_MAX_CHARS))]
    application_type: Option<String>,
    /// Username and password.
    credentials: Option<UsernameAndPassword>,
    /// Username and password, without `credentials`.
    #[serde(flatten)]
    flat: UsernameAndPassword,
    /// The whole login.
    credential: Option<Box<LoginInput>>,
}

/// A user's name and password in another system.
#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
struct UsernameAndPassword {
    /// The user's name in the other system; required.
    #[schemars(length(min = 1, max = limits::CREDENTIAL_TEXT_MAX_CHARS))]
    username: Option<String>,
    /// The password; required.
    #[schemars(length(min = 1, max = limits::CREDENTIAL_TEXT_MAX_CHARS))]
    password: Option<String>,
}

/// The ids of a stored login.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CredentialIds {
    /// The `profileId` of the user profile that names the application.
    pub user_profile_id: String,
    /// The id of the login itself.
    pub credential_id: String,
}

/// In this namespace, ids are derived from user, application and username. Storing a login again therefore replaces its
/// password.
const NAMESPACE: Uuid = Uuid::from_u128(0x6b5d_0d5e_8f0f_4c0e_9a55_2f2b_8d3f_7c11);

impl Login {
    /// The login in a request. Errors: `Invalid` for missing texts, and for texts with the character U+0000.
    pub fn of(input: LoginInput) -> Result<Self> {
        let (outer, path) = match input.credential {
            Some(inner) => (*inner, "credential."),
            None => (input, ""),
        };
        let (names, inner_path) = match outer.credentials {
            Some(inner) => (inner, format!("{path}credentials.")),
            None => (outer.flat, path.to_owned()),
        };
        let application = match outer.application_name.or(outer.application_type) {
            None if !path.is_empty() => "default".to_owned(),
            application => text(application, format!("{path}applicationName"))?,
        };
        Ok(Self {
            application,
            username: text(names.username, format!("{inner_path}username"))?,
            password: text(names.password, format!("{inner_path}password"))?,
        })
    }
}

fn text(text: Option<String>, path: String) -> Result<String> {
    match text {
        Some(text) if text.contains('\0') => {
            Err(Problem::invalid(path, messages::MUST_NOT_CONTAIN_NUL))
        }
        Some(text) => Ok(text),
        None => Err(Problem::invalid(path, messages::required("a string"))),
    }
}

/// The id of a user's login. The encryption of its password is bound to this id.
pub fn id(user: &str, login: &Login) -> String {
    // No text contains U+0000, so it can separate them.
    let name = format!("{user}\0{}\0{}", login.application, login.username);
    Uuid::new_v5(&NAMESPACE, name.as_bytes()).to_string()
}

/// Stores a login, whose password the caller has sealed, and names it in the user's profile for the application.
///
/// Errors: `NotFound` for an unknown user; `Forbidden` for one who does not belong only to the reach.
pub fn register(
    tx: &mut Tx<'_>,
    user: &str,
    login: &Login,
    sealed: &[u8],
    now: Timestamp,
    reach: &Reach,
) -> Result<CredentialIds> {
    reach::check_change(tx, &USER, user, reach)?;
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
    Ok(CredentialIds { user_profile_id, credential_id: credential.id })
}

/// A user's credential with its sealed password. Errors: `NotFound`, also for a user outside of the reach.
pub fn find(tx: &mut Tx<'_>, user: &str, id: &str, reach: &Reach) -> Result<Credential> {
    repository::require_within(tx, &USER, user, reach)?;
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
