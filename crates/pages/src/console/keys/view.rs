//! Apps and keys: API keys and clients.

use askama::Template;
use lyceum_console::language::ProblemText;
use lyceum_console::{FactList, Frame, List, Tab, Tabs};

/// The tabs of the screen. Only administrators see clients.
pub(crate) fn tabs(here: &'static str, role: &str) -> Tabs {
    let mut tabs = vec![Tab::new("API keys", "/console/keys")];
    if role == "administrator" {
        tabs.push(Tab::new("Clients", "/console/keys/clients"));
    }
    Tabs::new(here, tabs)
}

/// The page with the list of API keys or clients.
#[derive(Template)]
#[template(path = "console/keys/keys.html")]
pub(crate) struct KeysPage {
    /// The frame.
    pub frame: Frame,
    /// The tabs of the screen.
    pub tabs: Tabs,
    /// The keys or clients.
    pub list: List,
    /// The address of the form that creates a key or client, and the text of the button.
    pub create: (&'static str, String),
}

/// The page of one key or client.
#[derive(Template)]
#[template(path = "console/keys/key.html")]
pub(crate) struct KeyPage {
    /// The frame.
    pub frame: Frame,
    /// The address and name of the list that contains the key or client.
    pub list: (&'static str, &'static str),
    /// The address of this page.
    pub path: String,
    /// Facts about the key or client.
    pub facts: FactList,
    /// The fate of the current secret if a new one is created; `None` for a revoked key or client.
    pub rotating: Option<String>,
    /// The organizations to which it is limited, separated by spaces; `None` if the viewer may not change them.
    pub organizations: Option<String>,
}

/// An option in a form: the value that is sent, and the text that is shown.
pub(crate) type FormOption = (String, String);

/// The form for a new key or client.
#[derive(Template)]
#[template(path = "console/keys/key_new.html")]
pub(crate) struct NewKeyPage {
    /// The frame.
    pub frame: Frame,
    /// The address and name of the list that contains the key or client.
    pub list: (&'static str, &'static str),
    /// The address to which the form is sent.
    pub path: &'static str,
    /// The text of the form's button.
    pub button: String,
    /// Why the previous submission failed.
    pub problem: Option<ProblemText>,
    /// The name that was typed.
    pub name: String,
    /// The roles to choose from; empty if the form has no such field.
    pub roles: Vec<FormOption>,
    /// The projects to choose from; `None` if the form has no such field.
    pub projects: Option<Vec<FormOption>>,
    /// The scopes to choose from; empty if the form has no such field.
    pub scopes: Vec<FormOption>,
    /// Whether the form has a field for organizations.
    pub has_organizations: bool,
    /// Whether the form offers a signing secret.
    pub offers_signing: bool,
}

/// The page that shows a new secret once.
#[derive(Template)]
#[template(path = "console/keys/key_created.html")]
pub(crate) struct NewSecretPage {
    /// The frame.
    pub frame: Frame,
    /// The address and name of the list that contains the key or client.
    pub list: (&'static str, &'static str),
    /// The page of the key or client.
    pub path: String,
    /// The id of the client; `None` for API keys, which need only the secret.
    pub id: Option<String>,
    /// The secret.
    pub secret: String,
    /// The signing secret of a client that has one.
    pub signing_secret: Option<String>,
    /// A command that shows how to use the secret.
    pub example: String,
}
