//! The frame around each page: the signed-in person and the navigation.

use crate::assets;
use crate::language::translated;

/// A screen of the console: an entry of the navigation.
#[derive(Debug, PartialEq, Eq)]
pub struct Screen {
    /// The name in the navigation, in English.
    pub name: &'static str,
    /// The path of the screen's first page.
    pub path: &'static str,
    /// The heading of its group in the navigation, in English; empty for the first group.
    pub group: &'static str,
    /// The SVG path of its icon, in a box of 24 × 24.
    pub icon: &'static str,
    /// The scope of the API that a role needs to see the screen; empty for a screen of all staff.
    pub scope: &'static str,
}

/// The screens by name.
pub mod screens {
    use super::Screen;

    const fn screen(
        name: &'static str,
        path: &'static str,
        group: &'static str,
        scope: &'static str,
        icon: &'static str,
    ) -> Screen {
        Screen { name, path, group, icon, scope }
    }

    /// Health, next steps and incoming data.
    pub static HOME: Screen = screen(
        "Home",
        "/console",
        "",
        "",
        "M4 11l8-7 8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z",
    );
    /// The students who need attention now.
    pub static TODAY: Screen = screen(
        "Today",
        "/console/today",
        "Learning",
        "lyceum/bridge.read",
        "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.5 2",
    );
    /// Students.
    pub static STUDENTS: Screen = screen(
        "Students",
        "/console/students",
        "Learning",
        "lyceum/roster.read",
        "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5a6.5 6.5 0 0 1 3.5 5.5",
    );
    /// Classes.
    pub static CLASSES: Screen = screen(
        "Classes",
        "/console/classes",
        "Learning",
        "lyceum/roster.read",
        "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z",
    );
    /// Courses.
    pub static COURSES: Screen = screen(
        "Courses",
        "/console/courses",
        "Learning",
        "lyceum/roster.read",
        "M12 6.5C10 5 7 4.5 3.5 4.5v13c3.5 0 6.5.5 8.5 2 2-1.5 5-2 8.5-2v-13c-3.5 0-6.5.5-8.5 2zM12 6.500v13",
    );
    /// Badges and records.
    pub static BADGES: Screen = screen(
        "Badges and records",
        "/console/badges",
        "Learning",
        "lyceum/credentials.read",
        "M12 3a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM8.5 14l-1.5 7 5-2.5 5 2.5-1.5-7",
    );
    /// Events.
    pub static EVENTS: Screen =
        screen("Events", "/console/events", "Data", "lyceum/events.read", "M3 12h4l3-8 4 16 3-8h4");
    /// Imports.
    pub static IMPORTS: Screen = screen(
        "Imports",
        "/console/imports",
        "Data",
        "lyceum/roster.write",
        "M12 3v12M7 10l5 5 5-5M4 20h16",
    );
    /// Projects.
    pub static PROJECTS: Screen = screen(
        "Projects",
        "/console/projects",
        "Platform",
        "lyceum/projects.read",
        "M12 3l8 4.500v9L12 21l-8-4.500v-9zM4 7.500l8 4.5 8-4.500M12 12v9",
    );
    /// Apps and keys.
    pub static KEYS: Screen = screen(
        "Apps and keys",
        "/console/keys",
        "Platform",
        "lyceum/projects.write",
        "M15 3a6 6 0 0 0-5.7 7.900L3 17.200V21h3.800l.7-2h2v-2h2l1.6-1.600A6 6 0 1 0 15 3zM16.5 7.500h.01",
    );
    /// Webhooks.
    pub static WEBHOOKS: Screen = screen(
        "Webhooks",
        "/console/webhooks",
        "Platform",
        "lyceum/webhooks.read",
        "M9 15l6-6M10.500 6.500l2-2a4 4 0 0 1 6 6l-2 2M13.500 17.500l-2 2a4 4 0 0 1-6-6l2-2",
    );
    /// People: the accounts.
    pub static PEOPLE: Screen = screen(
        "People",
        "/console/accounts",
        "Platform",
        "lyceum/people.manage",
        "M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 21a7.5 7.5 0 0 1 15 0",
    );
    /// The own account. The navigation shows it under the person's name.
    pub static PROFILE: Screen = screen("Your account", "/console/profile", "", "", "");
    /// The search. The navigation shows it above the screens.
    pub static SEARCH: Screen = screen("Search", "/console/search", "", "", "");
    /// An address that belongs to no screen. It leads home, and the navigation does not show it.
    pub static ELSEWHERE: Screen = screen("Home", "/console", "", "", "");
    /// System.
    pub static SYSTEM: Screen = screen(
        "System",
        "/console/system",
        "Platform",
        "lyceum/server.read",
        "M4 5h16v5H4zM4 14h16v5H4zM7.5 7.500h.01M7.5 16.500h.01",
    );
    /// Documentation, which needs no sign-in.
    pub static DOCS: Screen =
        screen("Docs", "/docs", "Help", "", "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6");
}

/// All screens, in the order of the navigation.
pub static SCREENS: &[&Screen] = &[
    &screens::HOME,
    &screens::TODAY,
    &screens::STUDENTS,
    &screens::CLASSES,
    &screens::COURSES,
    &screens::BADGES,
    &screens::EVENTS,
    &screens::IMPORTS,
    &screens::PROJECTS,
    &screens::KEYS,
    &screens::WEBHOOKS,
    &screens::PEOPLE,
    &screens::SYSTEM,
    &screens::DOCS,
];

impl Screen {
    /// The screen whose path the address begins with, or [`screens::ELSEWHERE`].
    pub fn at(path: &str) -> &'static Self {
        let holds = |screen: &&&Self| {
            path.strip_prefix(screen.path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let others = SCREENS.iter().filter(|screen| screen.path != screens::HOME.path);
        let found = others.filter(holds).max_by_key(|screen| screen.path.len());
        found.copied().unwrap_or(&screens::ELSEWHERE)
    }

    /// The name in the reader's language.
    pub fn title(&self) -> String {
        translated(self.name)
    }
}

/// The values that the frame of a page shows.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The name of the signed-in person.
    pub name: String,
    /// The person's e-mail address.
    pub email: String,
    /// The name of the person's role.
    pub role: &'static str,
    /// The environment of the server: `staging`, `production` or `local`.
    pub environment: &'static str,
    /// The screens of [`SCREENS`] that the role sees.
    pub screens: Vec<&'static Screen>,
    /// The screen that the page belongs to.
    pub screen: &'static Screen,
    /// The title of the page.
    pub title: String,
    /// The token that each form of the page sends in its field `token`, against forged requests.
    pub token: String,
    /// The IANA name of the time zone in which days and times are shown.
    pub zone: String,
}

impl Frame {
    /// The heading to show above a screen in the navigation, if a group begins there.
    pub fn begins(&self, screen: &Screen) -> Option<&'static str> {
        let first = self.screens.iter().find(|other| other.group == screen.group)?;
        (*first == screen && !first.group.is_empty()).then_some(first.group)
    }

    /// Whether the role sees the screen of the page.
    pub(crate) fn sees_screen(&self) -> bool {
        self.screen.scope.is_empty() || self.screens.contains(&self.screen)
    }

    /// Whether this is the page of the screen.
    pub fn is_here(&self, screen: &Screen) -> bool {
        self.screen == screen
    }
}

/// The address of the stylesheet.
pub fn style() -> Option<&'static str> {
    assets::STYLE.as_deref()
}

/// The address of the script.
pub fn script() -> Option<&'static str> {
    assets::SCRIPT.as_deref()
}
