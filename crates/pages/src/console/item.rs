//! The preview of an item: what a student sees, and the result of an answer that is not stored.

pub(crate) mod view;

use std::cell::RefCell;
use std::collections::BTreeSet;

use http::header;
use lyceum_api::{Context, Route, document_files};
use lyceum_assessment::files::{self, ContentNames};
use lyceum_assessment::{
    AnswerScore, ItemAnswer, ItemPage, answered_html, candidate, candidate_html, item_page, parse,
    stimulus_html,
};
use lyceum_console::language::sentence;
use lyceum_console::{links, screens};
use lyceum_core::text::segment;
use lyceum_core::{Problem, ProblemKind, Result, body, message};
use lyceum_http::answer::Answer;
use lyceum_http::render;
use lyceum_store::Tx;
use lyceum_store::run_blocking;
use serde::Serialize;

use super::visitor::query;
use super::{Visitor, action, page, show_page};
use crate::console::item::view::ItemPreviewPage;
use crate::limits;
use crate::sign_in::Form;

pub(super) fn routes() -> Vec<Route> {
    const PATH: &str = "/items/{id}/preview";
    vec![
        page(PATH, &screens::COURSES, show).of_no_organization(),
        page("/items/{id}/files/{file}", &screens::COURSES, file).of_no_organization(),
        action(PATH, &screens::COURSES, check)
            .of_no_organization()
            .reads_up_to(limits::ITEM_ANSWER_MAX_BYTES),
    ]
}

/// The result of an answer, for the page's script.
#[derive(Serialize)]
struct CheckedAnswer {
    #[serde(flatten)]
    scored: AnswerScore,
    /// The item with the feedback that the answer selects.
    html: String,
    /// The references to files that students do not get.
    #[serde(rename = "missingFiles")]
    missing_files: Vec<String>,
}

/// The reason why an answer was not scored, for the page's script.
#[derive(Serialize)]
struct RefusedAnswer {
    message: String,
}

async fn show(context: Context, visitor: Visitor) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let seed = query(&context).parameter("seed").parse().unwrap_or(0);
    let read = context.app.db.read(move |tx| item_page(tx, &id));
    let ItemPage { item, files, stimuli } = read.await?;
    let shown_files = PreviewFiles::of(&item.identifier);
    let xml = item.xml;
    let rendering = run_blocking(move || {
        let html = candidate_html(&xml, seed, &|file| shown_files.address(&files, file))?;
        let stimuli: Result<Vec<_>> = stimuli
            .into_iter()
            .map(|(stimulus, files)| {
                let address_of = |file: &str| shown_files.address(&files, file);
                Ok((stimulus.title, stimulus_html(&stimulus.xml, &address_of)?))
            })
            .collect();
        Ok((html, stimuli?, candidate(&xml, seed)?.varies, shown_files.missing()))
    });
    let (html, stimuli, varies, missing_files) = rendering.await?;
    show_page(&ItemPreviewPage {
        frame: visitor.frame(item.title),
        next: varies.then(|| links::item_variant(&item.identifier, seed.wrapping_add(1))),
        identifier: item.identifier,
        version: item.version,
        seed,
        missing_files,
        stimuli,
        html,
    })
}

async fn check(context: Context, _: Visitor, form: Form) -> Result<Answer> {
    let id = context.param("id").to_owned();
    let app = context.app.clone();
    let read = move |tx: &mut Tx<'_>| Ok((item_page(tx, &id)?, app.items.item(tx, &id)?));
    let (ItemPage { item, files, .. }, parsed) = context.app.db.read(read).await?;
    let (answer, shown_files) =
        (form.field("answer").to_owned(), PreviewFiles::of(&item.identifier));
    let checking = run_blocking(move || {
        let answer: ItemAnswer = body::of(parse(answer.as_bytes())?.into())?;
        let (responses, seed) = answer.for_item(&parsed)?;
        let address_of = |file: &str| shown_files.address(&files, file);
        let (scored, html) = answered_html((&parsed, &item.xml), &responses, seed, &address_of)?;
        Ok(CheckedAnswer { scored, html, missing_files: shown_files.missing() })
    });
    match checking.await {
        Ok(checked) => Ok(Answer::of(&checked)),
        Err(problem) if problem.cause.is_none() => {
            let refused = RefusedAnswer { message: sentence(&problem.message) };
            Ok(Answer::of(&refused).status(render::status(problem.kind)))
        }
        Err(problem) => Err(problem),
    }
    .map(|answer| answer.header(header::CACHE_CONTROL, lyceum_http::render::NO_STORE))
}

async fn file(context: Context, _: Visitor) -> Result<Answer> {
    let (id, name) = (context.param("id").to_owned(), context.param("file").to_owned());
    let unknown = message!("the item '{id}' has no file '{name}'");
    let find = context.app.db.read(move |tx| files::find_by_content(tx, &name, &[&id]));
    let file = find.await?.ok_or_else(|| Problem::new(ProblemKind::NotFound, unknown))?;
    document_files::send(&context, &file).await
}

/// The files that the preview of an item shows: those that students get.
struct PreviewFiles {
    /// The address below which the files of the item and its stimuli are.
    base: String,
    /// The references to files that are not stored with their document.
    missing: RefCell<BTreeSet<String>>,
}

impl PreviewFiles {
    fn of(item: &str) -> Self {
        let base = format!("/console/items/{}/files", segment(item));
        Self { base, missing: RefCell::default() }
    }

    /// The address of a file that is stored with its document. Any other file is noted as missing.
    fn address(&self, files: &ContentNames, reference: &str) -> Option<String> {
        let address = files.address(&self.base, reference);
        if address.is_none() && !reference.is_empty() {
            self.missing.borrow_mut().insert(reference.to_owned());
        }
        address
    }

    fn missing(self) -> Vec<String> {
        self.missing.into_inner().into_iter().collect()
    }
}
