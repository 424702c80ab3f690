//! Pages as HTML, from typed views.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod charts;
mod frame;
mod language;
mod lists;
mod translations;
mod words;

use std::borrow::Cow;

use lyceum_console::{Frame, ListQuery, SCREENS, screens};

/// The frame of a page of courses for a person with that role who sees all screens.
fn frame(role: &'static str) -> Frame {
    Frame {
        name: "Robin Example".into(),
        email: "robin@example.org".into(),
        role,
        environment: "local",
        screens: SCREENS.to_vec(),
        screen: &screens::COURSES,
        title: "A <b>title</b>".into(),
        token: "form-token".into(),
        zone: "Europe/London".into(),
    }
}

/// The parameters of an address such as `sort=-xp&page=2`.
fn query(text: &str) -> ListQuery {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap());
    ListQuery::of("/list", pairs.map(|(name, value)| (Cow::from(name), Cow::from(value))))
}

/// The number of times that the text contains the part.
fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}
