//! The page on which people play an app.

use askama::Template;

use crate::assets;

/// How an app is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// By somebody who is signed in.
    Platform,
    /// By an anonymous visitor.
    Demo,
}

impl Mode {
    /// The word by which the app is told.
    pub fn word(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Demo => "demo",
        }
    }
}

/// The app in a frame, with what the page's script needs to speak with it.
#[derive(Template)]
#[template(path = "play.html")]
pub struct Play {
    /// How it is played.
    pub mode: Mode,
    /// What people call the app.
    pub name: String,
    /// Its sign; empty where it has none.
    pub emoji: String,
    /// Who plays; empty in a demo.
    pub who: String,
    /// `local`, `staging` or `production`.
    pub environment: &'static str,
    /// The server's address.
    pub base_url: String,
    /// The address of the app's own host, without a path: the one origin that is spoken with.
    pub app_url: String,
    /// The app's name in addresses.
    pub slug: String,
}

impl Play {
    fn style() -> Option<String> {
        assets::address("play.css")
    }

    fn script() -> Option<String> {
        assets::address("play.js")
    }

    fn is_demo(&self) -> bool {
        self.mode == Mode::Demo
    }
}
