//! Apps and keys: API keys and clients.

use askama::Template;

use crate::{Facts, Frame, List, Tab, Tabs};

/// The tabs of the screen; clients are for administrators alone.
pub fn tabs(here: &'static str, role: &str) -> Tabs {
    let mut tabs = vec![Tab::new("API keys", "/console/keys")];
    if role == "administrator" {
        tabs.push(Tab::new("Clients", "/console/keys/clients"));
    }
    Tabs::new(here, tabs)
}

/// The keys, or the clients.
#[derive(Template)]
#[template(path = "keys.html")]
pub struct Keys {
    /// The frame.
    pub frame: Frame,
    /// API keys, Clients.
    pub tabs: Tabs,
    /// What there is.
    pub list: List,
    /// Where another one is created, and the text of the button.
    pub create: (&'static str, &'static str),
}

/// One key or client.
#[derive(Template)]
#[template(path = "key.html")]
pub struct Key {
    /// The frame.
    pub frame: Frame,
    /// The list that it belongs to: its address and name.
    pub list: (&'static str, &'static str),
    /// Its own address.
    pub path: String,
    /// What is known of it.
    pub facts: Facts,
    /// What happens to the current secret if a new one is created; none for a revoked key or client.
    pub rotating: Option<&'static str>,
}

/// A choice in a form: what is sent, what is shown.
pub type Choice = (String, String);

/// The form for a new key or client.
#[derive(Template)]
#[template(path = "key_new.html")]
pub struct New {
    /// The frame.
    pub frame: Frame,
    /// The list that it belongs to: its address and name.
    pub list: (&'static str, &'static str),
    /// Where the form goes.
    pub path: &'static str,
    /// The text of its button.
    pub button: &'static str,
    /// What went wrong with the last try.
    pub problem: Option<String>,
    /// The name that was typed.
    pub name: String,
    /// Roles to choose from; empty: none is chosen.
    pub roles: Vec<Choice>,
    /// Projects to choose from; none: none is chosen.
    pub projects: Option<Vec<Choice>>,
    /// Scopes to choose from; empty: none are chosen.
    pub scopes: Vec<Choice>,
}

/// A secret, shown once.
#[derive(Template)]
#[template(path = "key_created.html")]
pub struct Created {
    /// The frame.
    pub frame: Frame,
    /// The list that it belongs to: its address and name.
    pub list: (&'static str, &'static str),
    /// The page of the key or client.
    pub path: String,
    /// The id that goes with it; none for keys, which need none.
    pub id: Option<String>,
    /// The secret.
    pub secret: String,
    /// How it is used.
    pub example: String,
}
