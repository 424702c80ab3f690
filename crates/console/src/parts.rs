//! Parts that several screens share beside lists: tabs, and facts about one thing.

use askama::Template;
use askama::filters::HtmlSafe;

use crate::Cell;

/// A page of a screen that has several.
#[derive(Clone, Debug)]
pub struct Tab {
    /// What it is called.
    pub name: &'static str,
    /// Where it is.
    pub href: String,
    /// How much is there, where that is worth telling.
    pub count: Option<String>,
}

impl Tab {
    /// A tab of that name and address.
    pub fn new(name: &'static str, href: impl Into<String>) -> Self {
        Self { name, href: href.into(), count: None }
    }
}

/// The pages of a screen. In a template: `{{ tabs }}`.
#[derive(Template)]
#[template(path = "tabs.html")]
pub struct Tabs {
    here: &'static str,
    tabs: Vec<Tab>,
}

impl Tabs {
    /// The tabs, of which one is open.
    pub fn new(here: &'static str, tabs: Vec<Tab>) -> Self {
        Self { here, tabs }
    }
}

impl HtmlSafe for Tabs {}

/// What is known of one thing, each under its name. In a template: `{{ facts }}`.
#[derive(Template)]
#[template(path = "facts.html")]
pub struct Facts {
    facts: Vec<(&'static str, Cell)>,
}

impl Facts {
    /// Names and values, in the order in which they are shown.
    pub fn new(facts: Vec<(&'static str, Cell)>) -> Self {
        Self { facts }
    }
}

impl HtmlSafe for Facts {}
