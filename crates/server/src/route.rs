//! One table of routes an area: what is served, who may call it, and what the OpenAPI document
//! says about it. [`crate::router`] builds the router from these tables and from nothing else.

use std::any::TypeId;
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::http::{Method, StatusCode};
pub use lyceum_access::Access;
use lyceum_console::Screen;
use lyceum_core::schema::TypeSchema;
use lyceum_core::{Result, limits};
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::context::Context;
use crate::render::Rendering;

/// A handler's answer, on its way.
pub type Pending = Pin<Box<dyn Future<Output = Result<Answer>> + Send>>;

/// The bodies that a route reads.
#[derive(Clone, Debug)]
pub struct Reads {
    /// Media types that are taken; a body of another type is refused with 415, one that names no
    /// type is taken as the first. Empty: the route reads no body, and one that is sent is ignored.
    pub media: &'static [&'static str],
    /// Bytes at most, none: as the settings say; a longer body is refused with 413.
    pub max_bytes: Option<usize>,
    /// The body's JSON Schema; null, where it is not described.
    pub schema: TypeSchema,
    /// The type as which the handler reads it; none, where it reads it in another way.
    pub type_id: Option<TypeId>,
    /// Whether the handler itself refuses JSON with a key that stands twice, which is else refused before.
    pub checks_keys: bool,
}

/// Where a parameter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamPlace {
    /// In the path, between braces.
    Path,
    /// In the query.
    Query,
    /// A header.
    Header,
}

/// A parameter, for the OpenAPI document and [`crate::parameters`].
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name as sent.
    pub name: Cow<'static, str>,
    /// Where it stands. A path parameter is always required.
    pub place: ParamPlace,
    /// Its JSON Schema.
    pub schema: Value,
    /// What it does.
    pub says: Cow<'static, str>,
    /// Whether it may stand in the query several times.
    pub repeats: bool,
}

/// One answer that a route gives, for the OpenAPI document.
#[derive(Clone, Debug)]
pub struct Answers {
    /// Its status.
    pub status: StatusCode,
    /// What it means.
    pub says: Cow<'static, str>,
    /// Its body: media type and JSON Schema. None: the body is empty.
    pub body: Option<(&'static str, TypeSchema)>,
    /// Its headers beside those that every answer has.
    pub headers: &'static [Header],
}

/// A header of an answer.
#[derive(Debug)]
pub struct Header {
    /// Its name.
    pub name: &'static str,
    /// The JSON type of its value.
    pub ty: &'static str,
    /// What it tells.
    pub says: &'static str,
}

/// One route: a method at a path.
pub struct Route {
    /// The method. `HEAD` is served wherever `GET` is, `OPTIONS` everywhere.
    pub method: Method,
    /// The path below the area's base, parameters in braces: `/users/{sourcedId}`.
    pub path: Cow<'static, str>,
    /// Who may call it.
    pub access: Access,
    /// The screen of the console that it belongs to; none on other routes.
    pub screen: Option<&'static Screen>,
    /// The bodies that it reads.
    pub reads: Reads,
    /// The handler.
    pub handler: Arc<dyn Fn(Context) -> Pending + Send + Sync>,
    /// The operation's name in the OpenAPI document.
    pub name: Cow<'static, str>,
    /// What it does, in one sentence.
    pub says: Cow<'static, str>,
    /// Its parameters. Path parameters that are not listed are documented as plain strings.
    pub params: Vec<Param>,
    /// Its answers on success; errors are documented for all routes of an area alike.
    pub answers: Vec<Answers>,
    /// Left out of the OpenAPI document's recommended set.
    pub deprecated: bool,
    /// Whether a change may name the version that it is meant for ([`Route::of_version`]).
    pub takes_version: bool,
}

/// What a JSON route reads.
pub const JSON: &[&str] = &["application/json"];

fn route<H, F>(
    method: Method,
    path: impl Into<Cow<'static, str>>,
    access: impl Into<Access>,
    handler: H,
) -> Route
where
    H: Fn(Context) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Answer>> + Send + 'static,
{
    let reads_json = matches!(method, Method::POST | Method::PUT | Method::PATCH);
    let access = access.into();
    Route {
        reads: Reads {
            media: if reads_json { JSON } else { &[] },
            // A caller without a token never makes the server keep a large body; tokens of demo visitors
            // are everybody's.
            max_bytes: matches!(access, Access::Public | Access::Visitor(_))
                .then_some(limits::PUBLIC_BODY_MAX_BYTES),
            schema: Value::Null.into(),
            type_id: None,
            checks_keys: false,
        },
        method,
        path: path.into(),
        access,
        screen: None,
        handler: Arc::new(move |context| Box::pin(handler(context))),
        name: Cow::Borrowed(""),
        says: Cow::Borrowed(""),
        params: Vec::new(),
        answers: Vec::new(),
        deprecated: false,
        takes_version: false,
    }
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident $method:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<H, F>(
            path: impl Into<Cow<'static, str>>,
            access: impl Into<Access>,
            handler: H,
        ) -> Route
        where
            H: Fn(Context) -> F + Send + Sync + 'static,
            F: Future<Output = Result<Answer>> + Send + 'static,
        {
            route(Method::$method, path, access, handler)
        }
    )*};
}

methods! {
    /// A `GET` (and `HEAD`) route.
    get GET;
    /// A `POST` route; reads JSON unless told otherwise.
    post POST;
    /// A `PUT` route; reads JSON unless told otherwise.
    put PUT;
    /// A `PATCH` route; reads JSON unless told otherwise.
    patch PATCH;
    /// A `DELETE` route.
    delete DELETE;
}

impl Route {
    /// The operation's name in the OpenAPI document (`operationId`).
    #[must_use]
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// What the route does, in one sentence.
    #[must_use]
    pub fn says(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.says = text.into();
        self
    }

    /// A parameter.
    #[must_use]
    pub fn param(
        mut self,
        place: ParamPlace,
        name: impl Into<Cow<'static, str>>,
        schema: Value,
        says: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (name, says) = (name.into(), says.into());
        self.params.push(Param { name, place, schema, says, repeats: false });
        self
    }

    /// The parameter that was named last may stand in the query several times.
    #[must_use]
    pub fn repeating(mut self) -> Self {
        self.params.last_mut().expect("a parameter comes before it repeats").repeats = true;
        self
    }

    /// An answer with the type as JSON.
    #[must_use]
    pub fn answers<T: JsonSchema + ?Sized>(
        self,
        status: u16,
        says: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.answer(status, says, Some(("application/json", TypeSchema::output::<T>())))
    }

    /// An answer with JSON that a declaration of records describes, or nobody.
    #[must_use]
    pub fn answers_schema(
        self,
        status: u16,
        says: impl Into<Cow<'static, str>>,
        schema: impl Into<TypeSchema>,
    ) -> Self {
        self.answer(status, says, Some(("application/json", schema.into())))
    }

    /// An answer without a body.
    #[must_use]
    pub fn answers_empty(self, status: u16, says: impl Into<Cow<'static, str>>) -> Self {
        self.answers_as(status, says, None)
    }

    /// An answer with a body of any media type.
    #[must_use]
    pub fn answers_as(
        self,
        status: u16,
        says: impl Into<Cow<'static, str>>,
        body: Option<(&'static str, Value)>,
    ) -> Self {
        self.answer(status, says, body.map(|(media, schema)| (media, schema.into())))
    }

    fn answer(
        mut self,
        status: u16,
        says: impl Into<Cow<'static, str>>,
        body: Option<(&'static str, TypeSchema)>,
    ) -> Self {
        let status = StatusCode::from_u16(status).expect("a route documents real status codes");
        self.answers.push(Answers { status, says: says.into(), body, headers: &[] });
        self
    }

    /// Headers of the answer that was named last.
    #[must_use]
    pub fn with_headers(mut self, headers: &'static [Header]) -> Self {
        self.answers.last_mut().expect("an answer comes before its headers").headers = headers;
        self
    }

    /// The type as which [`Context::body_as`] reads the body.
    #[must_use]
    pub fn reads<T: JsonSchema + 'static>(mut self) -> Self {
        self.reads.schema = TypeSchema::input::<T>();
        self.reads.type_id = Some(TypeId::of::<T>());
        self
    }

    /// The JSON Schema of a body that a declaration of records describes, or that is free.
    #[must_use]
    pub fn reads_schema(mut self, schema: impl Into<TypeSchema>) -> Self {
        self.reads.schema = schema.into();
        self
    }

    /// The media types of the body in place of JSON.
    #[must_use]
    pub fn reads_as(mut self, media: &'static [&'static str]) -> Self {
        self.reads.media = media;
        self
    }

    /// The handler itself refuses JSON with a key that stands twice, for instance to keep what it refused.
    #[must_use]
    pub fn checks_keys(mut self) -> Self {
        self.reads.checks_keys = true;
        self
    }

    /// The bytes of the body at most, in place of the settings' limit.
    #[must_use]
    pub fn reads_up_to(mut self, bytes: usize) -> Self {
        self.reads.max_bytes = Some(bytes);
        self
    }

    /// A change that is done only to the version that `If-Match` names; the handler asks [`crate::etag::expected`].
    /// Every other change with the header is refused before its handler runs.
    #[must_use]
    pub fn of_version(mut self) -> Self {
        self.takes_version = true;
        let says = "The ETag of the version to change; 412 where another one is there.";
        self.param(ParamPlace::Header, "If-Match", json!({ "type": "string" }), says)
    }

    /// Still served, no longer recommended.
    #[must_use]
    pub fn deprecated(mut self) -> Self {
        self.deprecated = true;
        self
    }
}

/// The routes that share a base path and a body for their errors.
pub struct Area {
    /// Its name: the tag of the OpenAPI document and the label of metrics and logs.
    pub name: &'static str,
    /// What every path begins with, such as `/ims/oneroster/rostering/v1p2`; may be empty. An
    /// unknown path below it is answered in the area's rendering.
    pub base: &'static str,
    /// How problems are told.
    pub rendering: Rendering,
    /// What the area is for.
    pub says: &'static str,
    /// Its routes.
    pub routes: Vec<Route>,
}
