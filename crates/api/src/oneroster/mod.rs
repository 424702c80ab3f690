//! OneRoster: the areas and routes that are generated from the declarations.
//!
//! The reads, writes and scoped lists of a collection come from the declarations in `lyceum_roster`. Routes with
//! special behaviour have their own files here.

mod bulk;
mod courses;
mod export;
mod read;
mod respond;
pub mod schema;
mod scopes;
mod users;
mod v1p1;
mod write;

use lyceum_http::render::Rendering;
use lyceum_roster::collections::{self, Collection, CollectionPart, ScopedCollection};
use lyceum_roster::kind::{RecordKind, Service};

use crate::{Area, Route};

pub(super) use courses::syllabus;
pub(super) use read::{ListNarrowing, listing};
pub(super) use scopes::{RouteEffect, access};
pub use users::SEALED_PASSWORDS;

/// The three services of version 1.2, one area for each, and version 1.1.
pub(super) fn areas() -> Vec<Area> {
    let services = [Service::Rostering, Service::Gradebook, Service::Resources];
    services.into_iter().map(area).chain([v1p1::area()]).collect()
}

fn area(service: Service) -> Area {
    let (name, description) = match service {
        Service::Rostering => ("rostering", "The roster: courses, classes, users and enrollments."),
        Service::Gradebook => ("gradebook", "The gradebook: line items and results."),
        Service::Resources => ("resources", "Learning material."),
    };
    let mut routes = Vec::new();
    for collection in collections::all().filter(|c| c.kind.service == service) {
        routes.extend(of_collection(collection));
    }
    for scoped in scoped(service) {
        routes.push(read::scoped(*scoped, scoped.path.to_owned()));
        // Published clients expect these below the collection.
        if service == Service::Resources {
            routes.push(read::scoped(*scoped, format!("/resources{}", scoped.path)));
        }
    }
    routes.extend(write::into_scopes(service));
    match service {
        Service::Rostering => {
            routes.extend(users::routes());
            routes.push(courses::create_structure());
        }
        Service::Resources => routes.extend(export::routes()),
        Service::Gradebook => {}
    }
    Area { name, base: service.prefix(), rendering: Rendering::Imsx, description, routes }
}

fn scoped(service: Service) -> &'static [ScopedCollection] {
    match service {
        Service::Rostering => collections::ROSTERING,
        Service::Gradebook => collections::GRADEBOOK,
        Service::Resources => collections::RESOURCES,
    }
}

/// Routes that read every collection. Routes that write exist for complete kinds, and for parts of kinds whose records
/// the platform's clients write at this address.
fn of_collection(collection: Collection) -> Vec<Route> {
    let mut routes = vec![read::list(collection), read::single(collection)];
    if is_written(collection) {
        routes.extend([
            write::create(collection),
            write::put(collection),
            write::patch(collection),
            write::delete(collection),
            bulk::bulk(collection),
        ]);
    }
    routes
}

fn is_written(collection: Collection) -> bool {
    collection.part == CollectionPart::Whole
        || matches!(collection.path, "schools" | "terms" | "gradingPeriods")
}

/// The name of an operation, such as `getAllCourses` or `putLineItem`.
fn operation(verb: &str, noun: &str) -> String {
    let mut name = verb.to_owned();
    for part in noun.split(['/', '-']) {
        let mut letters = part.chars();
        if let Some(first) = letters.next() {
            name.extend(first.to_uppercase());
            name.push_str(letters.as_str());
        }
    }
    name
}

/// The name of one record of the collection, for names of operations.
fn singular(collection: Collection) -> &'static str {
    match collection.path {
        "schools" => "school",
        "students" => "student",
        "teachers" => "teacher",
        _ => collection.platform_one.unwrap_or(collection.kind.one),
    }
}

/// The complete collection of a kind.
fn collection(kind: &'static RecordKind) -> Collection {
    collections::at(kind.path).expect("every kind has a collection")
}
