//! The bucket of a project: folders and objects, which can be downloaded and deleted.

use http::header;
use lyceum_access::audit::AuditChange;
use lyceum_api::Context;
use lyceum_api::projects::bucket as api;
use lyceum_console::{Cell, Column, FactList, List, Row, t};
use lyceum_core::text::segment;
use lyceum_core::{Problem, ProblemKind, Result, phrase};
use lyceum_hosting::audit;
use lyceum_hosting::buckets::{Bucket, BucketListing, BucketObject};
use lyceum_http::answer::Answer;
use lyceum_http::render::{SNIFF, on_to};
use lyceum_store::run_blocking;
use serde_json::json;

use super::{bytes, query, read, view};
use crate::console::{Form, Visitor, show_page};
use crate::limits;

const OBJECTS: &[Column] = &[
    Column::text("key", "Name"),
    Column::number("size", "Size"),
    Column::text("uploaded", "Stored"),
];
const FOLDER: &str = "/";

/// The address of a bucket page for a prefix or key.
fn link(slug: &str, page: &str, name: &str, value: &str) -> String {
    let value = segment(value);
    format!("/console/projects/{slug}/bucket{page}?{name}={value}")
}

/// The entries below a prefix, and whether there are more.
fn below(bucket: &Bucket, prefix: &str) -> Result<(Vec<String>, Vec<BucketObject>, bool)> {
    let (mut folders, mut objects, mut cursor) = (Vec::new(), Vec::new(), None);
    loop {
        let listing = BucketListing {
            prefix: prefix.to_owned(),
            delimiter: Some(FOLDER.to_owned()),
            cursor,
            limit: None,
        };
        let page = bucket.list(&listing)?;
        folders.extend(page.prefixes);
        objects.extend(page.objects);
        cursor = page.cursor;
        let is_full = folders.len() + objects.len() >= limits::CONSOLE_BUCKET_MAX_ROWS;
        if cursor.is_none() || is_full {
            return Ok((folders, objects, cursor.is_some()));
        }
    }
}

fn media(info: &BucketObject) -> &str {
    info.http_metadata.get("contentType").and_then(|media| media.as_str()).unwrap_or_default()
}

pub(super) async fn list_objects(context: Context, visitor: Visitor) -> Result<Answer> {
    let (slug, ()) = read(&context, &visitor, |_, _| Ok(())).await?;
    let query = query(&context);
    let prefix = query.parameter("prefix").to_owned();
    let (folders, objects, is_cut) = match api::bucket(&context).await {
        Ok(bucket) => {
            let prefix = prefix.clone();
            run_blocking(move || below(&bucket, &prefix)).await?
        }
        Err(problem) if problem.kind == ProblemKind::NotFound => Default::default(),
        Err(problem) => return Err(problem),
    };
    let folder = |name: &String| -> Row {
        let name_shown = name.strip_prefix(&prefix).unwrap_or(name);
        let cell = Cell::of(name.as_str(), name_shown).to(link(&slug, "", "prefix", name));
        vec![cell, Cell::missing(&t!("folder")), Cell::none()]
    };
    let object = |info: &BucketObject| -> Row {
        let shown = info.key.strip_prefix(&prefix).unwrap_or(&info.key);
        let shown = if shown.is_empty() { &info.key } else { shown };
        let to = link(&slug, "/object", "key", &info.key);
        vec![
            Cell::of(info.key.as_str(), shown).to(&to),
            Cell::of(info.size, bytes(info.size)).to(&to),
            visitor.time(info.uploaded),
        ]
    };
    let rows = folders.iter().map(folder).chain(objects.iter().map(object)).collect();
    let list = List::new("Files", OBJECTS, query, rows).or_else(
        "There are no files here. A project has a bucket if its config has `bucket: true` below `integrations`. Its \
         backend and `lyceum bucket put` store files.",
    );
    let page = view::BucketPage {
        frame: visitor.frame(t!("Bucket of {project}", project = slug)),
        tabs: view::tabs("Bucket", &slug),
        path: format!("/console/projects/{slug}/bucket"),
        folders: folders_of(&slug, &prefix),
        prefix,
        most: is_cut.then_some(limits::CONSOLE_BUCKET_MAX_ROWS),
        list,
    };
    super::show_list("bucket", &page.list, &page)
}

/// The folders that contain a prefix, each with its page.
fn folders_of(slug: &str, prefix: &str) -> Vec<(String, String)> {
    let ends = prefix.match_indices(FOLDER).map(|(at, _)| at);
    let mut begin = 0;
    let folder = |end: usize| {
        let name = prefix[begin..end].to_owned();
        begin = end + FOLDER.len();
        (name, link(slug, "", "prefix", &prefix[..begin]))
    };
    ends.map(folder).collect()
}

fn key(context: &Context) -> Result<String> {
    let key = query(context).parameter("key").to_owned();
    if key.is_empty() { Err(Problem::invalid("key", "is required")) } else { Ok(key) }
}

pub(super) async fn one(context: Context, visitor: Visitor) -> Result<Answer> {
    let (slug, ()) = read(&context, &visitor, |_, _| Ok(())).await?;
    let (bucket, key) = (api::bucket(&context).await?, key(&context)?);
    let sought = key.clone();
    let found = run_blocking(move || bucket.head(&sought)).await?;
    let info = found.ok_or_else(|| api::missing(&key))?;
    let mut facts = vec![
        (phrase!("Key"), Cell::text(&key)),
        (phrase!("Size"), Cell::of(info.size, bytes(info.size))),
        (phrase!("Type"), Cell::text(media(&info))),
        (phrase!("Stored"), visitor.time(info.uploaded)),
        (phrase!("Tag"), Cell::text(&info.etag)),
    ];
    if !info.custom_metadata.is_empty() {
        facts.push((phrase!("Metadata"), Cell::text(json!(info.custom_metadata).to_string())));
    }
    let end = key.rfind(FOLDER).map_or(0, |at| at + FOLDER.len());
    show_page(&view::ObjectPage {
        frame: visitor.frame(&key[end..]),
        back: link(&slug, "", "prefix", &key[..end]),
        facts: FactList::new(facts),
        download: link(&slug, "/download", "key", &key),
        delete: format!("/console/projects/{slug}/bucket/delete"),
        key,
    })
}

pub(super) async fn download(context: Context, visitor: Visitor) -> Result<Answer> {
    let (slug, ()) = read(&context, &visitor, |_, _| Ok(())).await?;
    let (bucket, key) = (api::bucket(&context).await?, key(&context)?);
    let answer = api::send_object(bucket, key.clone(), 0).await?;
    note(&context, &visitor, &slug, &key, "bucket.download").await?;
    let name = key.rsplit(FOLDER).next().unwrap_or_default();
    let name = segment(name);
    Ok(answer
        .header(header::CONTENT_DISPOSITION, format!("attachment; filename*=UTF-8''{name}"))
        .header(header::CACHE_CONTROL, "no-store")
        .header(SNIFF, "nosniff"))
}

pub(super) async fn deleted(context: Context, visitor: Visitor, form: Form) -> Result<Answer> {
    let (slug, ()) = read(&context, &visitor, |_, _| Ok(())).await?;
    let bucket = api::bucket(&context).await?;
    let key = form.field("key").to_owned();
    let keys = [key.clone()];
    run_blocking(move || bucket.delete(&keys)).await?;
    note(&context, &visitor, &slug, &key, "bucket.delete").await?;
    let end = key.rfind(FOLDER).map_or(0, |at| at + FOLDER.len());
    Ok(on_to(&link(&slug, "", "prefix", &key[..end])))
}

/// Records in both logs who used a file. This cannot share a transaction with the change of the bucket, because the
/// bucket's index is another database.
async fn note(
    context: &Context,
    visitor: &Visitor,
    slug: &str,
    key: &str,
    what: &'static str,
) -> Result<()> {
    let (now, who) = (context.app.clock.now(), visitor.person.email.clone());
    let (slug, details) = (slug.to_owned(), json!({ "key": key }));
    let noted = context.app.db.write(move |tx| {
        audit::note(tx, now, (&slug, &who), what, &details)?;
        AuditChange { who: &who, what, subject: &slug }.note(tx, now, &details)
    });
    noted.await
}
