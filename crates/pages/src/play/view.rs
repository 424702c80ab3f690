//! The page on which people play an app.

use askama::Template;
use lyceum_console::assets;

/// The way in which a person plays an app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlayMode {
    /// Signed in.
    Platform,
    /// As an anonymous visitor.
    Demo,
}

impl PlayMode {
    /// The word that the app receives for this mode.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Demo => "demo",
        }
    }
}

/// The page that shows the app in a frame, with the values that the page's script needs to talk to it.
#[derive(Template)]
#[template(path = "play/play.html")]
pub(crate) struct PlayPage {
    /// The mode.
    pub mode: PlayMode,
    /// The display name of the app.
    pub name: String,
    /// The emoji of the app; empty if it has none.
    pub emoji: String,
    /// The name of the player; empty in a demo.
    pub who: String,
    /// `local`, `staging` or `production`.
    pub environment: &'static str,
    /// The server's address.
    pub base_url: String,
    /// The origin of the app's own host. The page exchanges messages only with this origin.
    pub app_url: String,
    /// The path from which the page gets tokens of the person.
    pub token_path: String,
    /// The slug of the app.
    pub slug: String,
}

impl PlayPage {
    fn style() -> Option<String> {
        assets::address("play.css")
    }

    fn script() -> Option<String> {
        assets::address("play.js")
    }

    fn is_demo(&self) -> bool {
        self.mode == PlayMode::Demo
    }
}
