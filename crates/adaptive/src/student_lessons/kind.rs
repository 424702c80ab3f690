//! The sort of a lesson, by what a student does in it.

use lyceum_roster::fields;
use lyceum_roster::record::Object;

use crate::{LessonType, lesson};

/// The sort of a lesson, by what a student does in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LessonKind {
    /// Answers questions of this server.
    Questions(LessonType),
    /// Takes a test with an outside tool, at its address.
    OutsideTest(LessonType, Option<String>),
    /// Watches, reads or uses learning material, at its address.
    Material(Material, String),
    /// Uses a deployed app, by its slug.
    App(String),
    /// Nothing: the record does not say what it leads to.
    Unknown,
}

/// A sort of learning material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Material {
    /// A film.
    Video,
    /// A recording to listen to.
    Audio,
    /// A picture.
    Picture,
    /// A text to read.
    Text,
    /// Any other page.
    Page,
}

impl Material {
    /// The sort that a resource's `metadata.type` names.
    fn of(name: &str) -> Self {
        match name {
            "video" => Self::Video,
            "audio" => Self::Audio,
            "visual" => Self::Picture,
            "text" => Self::Text,
            _ => Self::Page,
        }
    }

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Picture => "picture",
            Self::Text => "text",
            Self::Page => "page",
        }
    }
}

impl LessonKind {
    /// The kind of a component resource and its resource. `None` if only the stored tests can say it.
    ///
    /// A resource that was added to a lesson plan has no component resource, and attempts need one.
    pub(super) fn of(link: Option<&Object>, resource: &Object) -> Option<Self> {
        let metadata = fields::metadata(resource);
        let named = link.map(|link| lesson::named_sort(link, &metadata));
        let address = address(&metadata);
        if let Some(Ok(Some(lesson_type))) = named {
            let tool = fields::text(&metadata, "toolProvider");
            let has_test = !fields::text(&metadata, "url").is_empty() || tool.is_empty();
            return Some(match has_test {
                true => Self::Questions(lesson_type),
                false => Self::OutsideTest(lesson_type, address),
            });
        }
        let sort = fields::text(&metadata, "type");
        if matches!(sort, "" | "qti") && link.is_some() && lesson::is_test(&metadata) != Some(false)
        {
            return None;
        }
        Some(match (address, fields::text(resource, "applicationId")) {
            (Some(address), _) if sort != "qti" => Self::Material(Material::of(sort), address),
            (None, app) if sort == "interactive" && !app.is_empty() => Self::App(app.to_owned()),
            _ => Self::Unknown,
        })
    }

    /// Whether the student can work on it.
    pub fn can_be_opened(&self) -> bool {
        !matches!(self, Self::Unknown | Self::OutsideTest(_, None))
    }

    /// Its name in JSON: the type of a lesson with questions, otherwise the material.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Questions(lesson_type) | Self::OutsideTest(lesson_type, _) => lesson_type.name(),
            Self::Material(material, _) => material.name(),
            Self::App(_) => "app",
            Self::Unknown => "unknown",
        }
    }
}

/// The address in a resource's metadata, if browsers can open it.
fn address(metadata: &Object) -> Option<String> {
    let addresses = ["launchUrl", "url"].map(|name| fields::text(metadata, name));
    let found = addresses
        .into_iter()
        .find(|address| address.starts_with("https://") || address.starts_with("http://"));
    found.map(str::to_owned)
}
