//! Parts that several screens share besides lists: tabs and facts.

use askama::Template;
use askama::filters::HtmlSafe;

use crate::Cell;

/// A page of a screen that has several.
#[derive(Clone, Debug)]
pub struct Tab {
    /// The name of the page.
    pub name: &'static str,
    /// The address of the page.
    pub href: String,
    /// A number to show next to the name, if it is useful.
    pub count: Option<String>,
}

impl Tab {
    /// A tab with this name and address.
    pub fn new(name: &'static str, href: impl Into<String>) -> Self {
        Self { name, href: href.into(), count: None }
    }
}

/// The tabs of a screen. Templates write `{{ tabs }}`.
#[derive(Template)]
#[template(path = "tabs.html")]
pub struct Tabs {
    here: &'static str,
    tabs: Vec<Tab>,
}

impl Tabs {
    /// The tabs of a screen; `here` is the name of the open one.
    pub fn new(here: &'static str, tabs: Vec<Tab>) -> Self {
        Self { here, tabs }
    }
}

impl HtmlSafe for Tabs {}

/// Names and values that describe one thing. Templates write `{{ facts }}`.
#[derive(Template)]
#[template(path = "facts.html")]
pub struct FactList {
    facts: Vec<(&'static str, Cell)>,
}

impl FactList {
    /// Names and values, in the order in which they are shown.
    pub fn new(facts: Vec<(&'static str, Cell)>) -> Self {
        Self { facts }
    }
}

impl HtmlSafe for FactList {}
