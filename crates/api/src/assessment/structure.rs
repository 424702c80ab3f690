//! Parts, sections and item references of tests, and the questions of a test.

use http::{StatusCode, header};
use lyceum_access::Scope::{QtiRead, QtiWrite};
use lyceum_assessment::description::{
    ItemOrder, ItemReferenceInput, MetadataInput, TestDocument, TestPartInput, TestQuestions,
    TestSectionInput,
};
use lyceum_assessment::structure::{self, TestEdit};
use lyceum_assessment::{
    ContentKind, DocumentChange, StoredDocument, TestPart, TestSection, parse, repository,
};
use lyceum_core::{ProblemKind, Result};
use lyceum_http::answer::Answer;
use lyceum_http::etag;
use lyceum_http::route::{delete, get, post, put};
use lyceum_store::{Tx, run_blocking};
use serde_json::Value;

use super::list::{self, ListPage};
use super::{documents, headers};
use crate::{Context, Route, limits};

const PARTS: &str = "/{identifier}/test-parts";
const PART: &str = "/{identifier}/test-parts/{part}";
const SECTIONS: &str = "/{identifier}/test-parts/{part}/sections";
const SECTION: &str = "/{identifier}/test-parts/{part}/sections/{section}";
const ITEMS: &str = "/{identifier}/test-parts/{part}/sections/{section}/items";
const ITEM: &str = "/{identifier}/test-parts/{part}/sections/{section}/items/{item}";
const ORDER: &str = "/{identifier}/test-parts/{part}/sections/{section}/items/order";

pub(super) fn routes() -> Vec<Route> {
    let routes = [test_routes(), part_and_section_routes(), item_routes()];
    routes.into_iter().flatten().collect()
}

fn test_routes() -> Vec<Route> {
    vec![
        get("/{identifier}/questions", QtiRead, questions)
            .named("getAssessmentTestQuestions")
            .description("Lists the items of a test with their places.")
            .answers::<TestQuestions>(200, "The questions."),
        put("/{identifier}/metadata", QtiWrite, replace_metadata)
            .of_version()
            .named("putAssessmentTestMetadata")
            .description("Replaces the metadata of a test; null takes them away.")
            .reads::<MetadataInput>()
            .answers::<TestDocument>(200, "The test.")
            .with_headers(headers::TAGGED),
    ]
}

async fn questions(context: Context) -> Result<Answer> {
    let id = context.param("identifier").to_owned();
    let questions = context.app.db.read(move |tx| structure::questions(tx, &id)).await?;
    Ok(Answer::json(questions))
}

async fn replace_metadata(context: Context) -> Result<Answer> {
    let mut body = parse(&context.body)?;
    body.retain(|name, _| name == "metadata");
    let (id, now) = (context.param("identifier").to_owned(), context.app.clock.now());
    let (change, expected) =
        (DocumentChange::read(ContentKind::Test, &id, body)?, etag::expected(&context)?);
    let write = move |tx: &mut Tx<'_>| {
        repository::replace(tx, now, ContentKind::Test, &id, &change, expected)
    };
    documents::answer_of(&context.app.db.write(write).await?)
}

fn part_and_section_routes() -> Vec<Route> {
    vec![
        list::parameters(get(PARTS, QtiRead, list_page), &SORTS)
            .named("getTestParts")
            .description("Lists the parts of a test, in order.")
            .answers::<ListPage<TestPart>>(200, "A page of parts."),
        post(PARTS, QtiWrite, add)
            .of_version()
            .named("createTestPart")
            .description("Adds a part at the end of a test.")
            .reads::<TestPartInput>()
            .answers::<TestPart>(201, "The part."),
        get(PART, QtiRead, show)
            .named("getTestPart")
            .description("Reads a part of a test.")
            .answers::<TestPart>(200, "The part."),
        put(PART, QtiWrite, replace)
            .of_version()
            .named("putTestPart")
            .description("Changes a part and the sections in the body. Members that the body leaves out stay.")
            .reads::<TestPartInput>()
            .answers::<TestPart>(200, "The part."),
        delete(PART, QtiWrite, remove)
            .of_version()
            .named("deleteTestPart")
            .description("Removes a part, unless a rule refers to it or it is the only one.")
            .answers_empty(204, "Removed."),
        list::parameters(get(SECTIONS, QtiRead, list_page), &SORTS)
            .named("getSections")
            .description("Lists the sections of a part, in order.")
            .answers::<ListPage<TestSection>>(200, "A page of sections."),
        post(SECTIONS, QtiWrite, add)
            .of_version()
            .named("createSection")
            .description("Adds a section to a part, at the place that `sequence` names.")
            .reads::<TestSectionInput>()
            .answers::<TestSection>(201, "The section."),
        get(SECTION, QtiRead, show)
            .named("getSection")
            .description("Reads a section at any depth of a part.")
            .answers::<TestSection>(200, "The section."),
        put(SECTION, QtiWrite, replace)
            .of_version()
            .named("putSection")
            .description("Changes a section, its place and its items. Members that the body leaves out stay.")
            .reads::<TestSectionInput>()
            .answers::<TestSection>(200, "The section."),
        delete(SECTION, QtiWrite, remove)
            .of_version()
            .named("deleteSection")
            .description("Removes a section, unless a rule refers to it or it is the only one of its part.")
            .answers_empty(204, "Removed."),
    ]
}

/// The fields that order lists of parts and sections. The first is their own order.
const SORTS: [&str; 3] = ["sequence", "identifier", "title"];

async fn list_page(context: Context) -> Result<Answer> {
    let (stored, path) = (test(&context).await?, path(&context));
    let members = run_blocking(move || structure::members(&stored, &borrowed(&path))).await?;
    list::sliced(&context, members, &SORTS)
}

async fn show(context: Context) -> Result<Answer> {
    let (stored, path) = (test(&context).await?, path(&context));
    let tag = etag::tag(stored.version);
    let member = run_blocking(move || structure::member(&stored, &borrowed(&path))).await?;
    Ok(Answer::of(&member).header(header::ETAG, tag))
}

async fn add(context: Context) -> Result<Answer> {
    let body = parse(&context.body)?;
    let mut inner = path(&context);
    // A section answers for the items in it.
    if inner.len() < 2 {
        let name = body.get("identifier").and_then(Value::as_str).unwrap_or_default();
        inner.push(name.to_owned());
    }
    let answer = change(&context, TestEdit::Add(body), &inner).await?;
    Ok(answer.status(StatusCode::CREATED))
}

async fn replace(context: Context) -> Result<Answer> {
    let edit = TestEdit::Replace(parse(&context.body)?);
    change(&context, edit, &path(&context)).await
}

async fn remove(context: Context) -> Result<Answer> {
    edit_test(&context, TestEdit::Remove).await?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

fn item_routes() -> Vec<Route> {
    vec![
        post(ITEMS, QtiWrite, add)
            .of_version()
            .named("addSectionItem")
            .description(
                "Adds a reference to an item to a section, at the place that `sequence` names.",
            )
            .reads::<ItemReferenceInput>()
            .answers::<TestSection>(201, "The section."),
        put(ORDER, QtiWrite, reorder)
            .of_version()
            .named("orderSectionItems")
            .description(
                "Changes the order of a section's references. The body names each of them once.",
            )
            .reads::<ItemOrder>()
            .answers::<TestSection>(200, "The section."),
        delete(ITEM, QtiWrite, remove)
            .of_version()
            .named("removeSectionItem")
            .description(
                "Removes a reference from a section, unless a rule refers to it. The item stays.",
            )
            .answers_empty(204, "Removed."),
    ]
}

async fn reorder(context: Context) -> Result<Answer> {
    let edit = TestEdit::Order(parse(&context.body)?);
    change(&context, edit, &path(&context)).await
}

/// `PUT` of a whole test. XML replaces the document; JSON changes the stored document.
pub(super) async fn test_replaced(context: Context) -> Result<Answer> {
    let body = parse(&context.body)?;
    match structure::is_document(&body) {
        true => documents::replace(context, ContentKind::Test).await,
        false => documents::answer_of(&edit_test(&context, TestEdit::Replace(body)).await?.0),
    }
}

/// Changes the test, and answers the member at the path `shown`.
async fn change(context: &Context, edit: TestEdit, shown: &[String]) -> Result<Answer> {
    let (stored, edited) = edit_test(context, edit).await?;
    let member = edited.member(&borrowed(shown))?;
    Ok(Answer::of(&member).header(header::ETAG, etag::tag(stored.version)))
}

/// Changes the test in the address at the path. The change is computed outside the transaction that stores it, and again
/// if another change came between.
async fn edit_test(
    context: &Context,
    edit: TestEdit,
) -> Result<(StoredDocument, structure::EditedTest)> {
    let expected = etag::expected(context)?;
    for attempt in 1.. {
        let (read, path, edit) = (test(context).await?, path(context), edit.clone());
        let (now, id) = (context.app.clock.now(), read.identifier.clone());
        let version = expected.or(Some(read.version));
        let edited =
            run_blocking(move || structure::edited(&read, &borrowed(&path), &edit)).await?;
        let change = edited.change.clone();
        let write = move |tx: &mut Tx<'_>| {
            repository::replace(tx, now, ContentKind::Test, &id, &change, version)
        };
        match context.app.db.write(write).await {
            Err(problem)
                if problem.kind == ProblemKind::PreconditionFailed
                    && expected.is_none()
                    && attempt < limits::QTI_EDIT_MAX_ATTEMPTS => {}
            stored => return stored.map(|stored| (stored, edited)),
        }
    }
    unreachable!("the last attempt answers")
}

async fn test(context: &Context) -> Result<StoredDocument> {
    let id = context.param("identifier").to_owned();
    context.app.db.read(move |tx| repository::require(tx, ContentKind::Test, &id)).await
}

/// The path inside the test that the address names.
fn path(context: &Context) -> Vec<String> {
    let stands = |name: &&str| context.route.path.contains(&format!("{{{name}}}"));
    let parts = ["part", "section", "item"].into_iter().filter(stands);
    parts.map(|name| context.param(name).to_owned()).collect()
}

fn borrowed(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}
