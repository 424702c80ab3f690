//! The data about one person: an export, and an erasure that demands typing the id.

pub(crate) mod view;

use std::collections::BTreeMap;

use lyceum_api::people::{self, export};
use lyceum_api::work::erasure::{self, PersonalData, history_ends};
use lyceum_api::{Context, Route};
use lyceum_console::language::{ProblemText, message};
use lyceum_console::{Cell, Column, FactList, List, links, plural, screens, t};
use lyceum_core::{Message, Problem, ProblemKind, Result, phrase};
use lyceum_erasure::{Erasure, Subject};
use lyceum_http::answer::Answer;

use super::visitor::query;
use super::{Form, Visitor, action, deadline, on_to, page, show_list};
use crate::console::personal_data::view::{ErasurePage, PersonPage};

pub(super) fn routes() -> Vec<Route> {
    let screen = &screens::SYSTEM;
    vec![
        page("/people/{id}", screen, show),
        page("/people/{id}/export", screen, exported),
        action("/people/{id}/erase", screen, erase),
        page("/people/{id}/erasure", screen, erasure),
    ]
}

const ROWS: &[Column] = &[Column::text("table", "Table"), Column::number("rows", "Rows")];

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    person_page(&context, &visitor, None).await
}

async fn person_page(
    context: &Context,
    visitor: &Visitor,
    problem: Option<ProblemText>,
) -> Result<Answer> {
    let (id, key) = (context.param("id").to_owned(), erasure::key(&context.app));
    let person = id.clone();
    let counts = context.app.db.scan(deadline(), move |tx| match key.erasure_of(tx, &person)? {
        Some(_) => Ok(None),
        None => Subject::find(tx, &person)?.counts(tx).map(Some),
    });
    let Some(counts) = counts.await? else { return Ok(on_to(&links::erasure(&id))) };
    let view = PersonPage {
        frame: visitor.frame(t!("Data about a person")),
        path: links::person(&id),
        rows: rows(context, phrase!("What an erasure changes"), &counts),
        id,
        problem,
    };
    show_list("person", &view.rows, &view)
}

fn rows(context: &Context, title: &'static str, counts: &BTreeMap<String, u64>) -> List {
    let row = |(name, count): (&String, &u64)| {
        vec![Cell::text(message(&Message::untranslated(name))), Cell::count(*count)]
    };
    List::new(title, ROWS, query(context), counts.iter().map(row).collect()).or_else("Nothing yet.")
}

async fn exported(context: Context, visitor: Visitor) -> Result<Answer> {
    export(&context.app, &visitor.person.email, context.param("id")).await
}

async fn erase(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let id = context.param("id").to_owned();
    if form.field("confirmed") != id {
        let problem = ProblemText::of("the typed id is another one, so nothing was erased");
        return person_page(&context, &visitor, Some(problem)).await;
    }
    let data = PersonalData::of(&context.app);
    match data.begin(&visitor.person.email, &id).await {
        Ok(_) => Ok(on_to(&links::erasure(&id))),
        // Such as the last administrator.
        Err(Problem { kind: ProblemKind::Conflict, message, .. }) => {
            person_page(&context, &visitor, Some(ProblemText::of(message))).await
        }
        Err(problem) => Err(problem),
    }
}

async fn erasure(context: Context, visitor: Visitor) -> Result<Answer> {
    let erasure: Erasure = people::find(&context.app, context.param("id")).await?;
    let until = erasure.ended.map(|ended| history_ends(&context.app.config, ended));
    let mut facts = vec![
        (phrase!("Pseudonym"), Cell::text(&erasure.pseudonym)),
        (phrase!("Asked by"), Cell::text(&erasure.asked_by)),
        (phrase!("Asked"), visitor.time(erasure.asked)),
        (phrase!("Ended"), visitor.time_if_any(erasure.ended)),
        (phrase!("Phase"), Cell::text(&erasure.phase)),
        (phrase!("In backups until"), visitor.time_if_any(until)),
    ];
    let place = |found: &lyceum_erasure::erase::ProjectTable| {
        plural!(
            found.rows,
            "{project}: {table} ({n} row)",
            "{project}: {table} ({n} rows)",
            project = found.project,
            table = found.table,
        )
    };
    let places: Vec<String> = erasure.projects.iter().map(place).collect();
    if !places.is_empty() {
        facts.push((phrase!("Still named in projects"), Cell::text(places.join(", "))));
    }
    if !erasure.objects.is_empty() {
        let objects = Cell::text(erasure.objects.join(", "));
        facts.push((phrase!("Files of former installations that stay"), objects));
    }
    let view = ErasurePage {
        frame: visitor.frame(t!("Erasure")),
        is_done: erasure.is_done(),
        facts: FactList::new(facts),
        removed: rows(&context, phrase!("What was removed"), &erasure.removed),
    };
    show_list("erasure", &view.removed, &view)
}
