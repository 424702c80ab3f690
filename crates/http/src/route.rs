//! Tables of routes, one for each area. They define paths, access, and the content of the OpenAPI document
//! about it. [`crate::router`] builds the router only from these tables.

use std::any::TypeId;
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use http::{Method, StatusCode};
use lyceum_access::Scope;
pub use lyceum_access::{Access, LimitedCallers};
use lyceum_console::Screen;
use lyceum_core::Result;
use lyceum_core::schema::TypeSchema;
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::context::Context;
use crate::limits;
use crate::render::Rendering;

/// The future of a handler's answer.
pub type HandlerFuture = Pin<Box<dyn Future<Output = Result<Answer>> + Send>>;

/// Generates the JSON Schema of a body for the OpenAPI document. Few servers ever show it, so it is not made before.
pub type SchemaSource = Arc<dyn Fn() -> TypeSchema + Send + Sync>;

/// The request body that a route reads.
#[derive(Clone)]
pub struct RequestBody {
    /// The accepted media types; `image/*` accepts all types of the family. A body of another type is refused with 415.
    /// A body without a type counts as the first type. If the list is empty, the route ignores the body.
    pub media: &'static [&'static str],
    /// The most bytes; `None` for the limit from the settings. A longer body is refused with 413.
    pub max_bytes: Option<usize>,
    /// The body's JSON Schema; `None` if it is not described.
    pub schema: Option<SchemaSource>,
    /// The type as which the handler parses the body; `None` if it parses it in another way.
    pub type_id: Option<TypeId>,
    /// Whether the handler itself refuses JSON objects with a repeated key. Otherwise, they are refused before the
    /// handler.
    pub checks_keys: bool,
}

/// The location of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamPlace {
    /// In the path, in braces.
    Path,
    /// In the query.
    Query,
    /// In a header.
    Header,
}

/// A parameter, for the OpenAPI document and [`crate::parameters`].
#[derive(Clone, Debug)]
pub struct Param {
    /// The name as it is sent.
    pub name: Cow<'static, str>,
    /// The location. Path parameters are always required.
    pub place: ParamPlace,
    /// The JSON Schema of the value.
    pub schema: Value,
    /// Describes the parameter.
    pub description: Cow<'static, str>,
    /// Whether the query may contain the parameter several times.
    pub repeats: bool,
}

/// A possible answer of a route, for the OpenAPI document.
#[derive(Clone)]
pub struct RouteAnswer {
    /// The status code.
    pub status: StatusCode,
    /// Describes the answer.
    pub description: Cow<'static, str>,
    /// The media type and JSON Schema of the body; `None` for an empty body.
    pub body: Option<(&'static str, SchemaSource)>,
    /// Headers in addition to those of every answer.
    pub headers: &'static [AnswerHeader],
}

/// A header of an answer.
#[derive(Debug)]
pub struct AnswerHeader {
    /// The name.
    pub name: &'static str,
    /// The JSON type of the value.
    pub ty: &'static str,
    /// Describes the header.
    pub description: &'static str,
}

/// A route: a method and a path.
pub struct Route<A> {
    /// The method. Each `GET` route also serves `HEAD`, and all paths serve `OPTIONS`.
    pub method: Method,
    /// The path below the area's base, with parameters in braces, such as `/users/{sourcedId}`.
    pub path: Cow<'static, str>,
    /// The callers that may use the route.
    pub access: Access,
    /// The answer to callers who are limited to a part of the roster. By default it refuses them.
    pub limited_callers: LimitedCallers,
    /// The console screen of the route; `None` for other routes.
    pub screen: Option<&'static Screen>,
    /// The request body.
    pub reads: RequestBody,
    /// The handler.
    pub handler: Arc<dyn Fn(Context<A>) -> HandlerFuture + Send + Sync>,
    /// The `operationId` in the OpenAPI document.
    pub name: Cow<'static, str>,
    /// Describes the route in one sentence.
    pub description: Cow<'static, str>,
    /// The parameters. Path parameters that are not listed are documented as plain strings.
    pub params: Vec<Param>,
    /// The answers on success. Errors are documented in the same way for all routes of an area.
    pub answers: Vec<RouteAnswer>,
    /// Whether the route is deprecated.
    pub deprecated: bool,
    /// Whether a change may require a version ([`Route::of_version`]).
    pub takes_version: bool,
    /// Whether the route deletes the project of its path ([`Route::ends_project`]).
    pub ends_project: bool,
}

/// The source of a schema that no type describes.
fn fixed_schema(schema: Value) -> SchemaSource {
    Arc::new(move || schema.clone().into())
}

/// The body of a JSON route.
pub const JSON: &[&str] = &["application/json"];

fn route<A, H, F>(
    method: Method,
    path: impl Into<Cow<'static, str>>,
    access: impl Into<Access>,
    handler: H,
) -> Route<A>
where
    H: Fn(Context<A>) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Answer>> + Send + 'static,
{
    let reads_json = matches!(method, Method::POST | Method::PUT | Method::PATCH);
    let access = access.into();
    Route {
        reads: RequestBody {
            media: if reads_json { JSON } else { &[] },
            // Callers without a token must not make the server hold a large body. Anybody can get a token of a demo
            // visitor.
            max_bytes: matches!(access, Access::Public | Access::Visitor(_))
                .then_some(limits::PUBLIC_BODY_MAX_BYTES),
            schema: None,
            type_id: None,
            checks_keys: false,
        },
        method,
        path: path.into(),
        access,
        // A public route does not know its caller, and a student has no reach but the student's own records.
        limited_callers: match access {
            Access::Public | Access::Student(_) => LimitedCallers::Unaffected,
            _ => LimitedCallers::Refused,
        },
        screen: None,
        handler: Arc::new(move |context| Box::pin(handler(context))),
        name: Cow::Borrowed(""),
        description: Cow::Borrowed(""),
        params: Vec::new(),
        answers: Vec::new(),
        deprecated: false,
        takes_version: false,
        ends_project: false,
    }
}

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident $method:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<A, H, F>(
            path: impl Into<Cow<'static, str>>,
            access: impl Into<Access>,
            handler: H,
        ) -> Route<A>
        where
            H: Fn(Context<A>) -> F + Send + Sync + 'static,
            F: Future<Output = Result<Answer>> + Send + 'static,
        {
            route(Method::$method, path, access, handler)
        }
    )*};
}

methods! {
    /// A `GET` (and `HEAD`) route.
    get GET;
    /// A `POST` route, which reads JSON by default.
    post POST;
    /// A `PUT` route, which reads JSON by default.
    put PUT;
    /// A `PATCH` route, which reads JSON by default.
    patch PATCH;
    /// A `DELETE` route.
    delete DELETE;
}

impl<A> Route<A> {
    /// Sets the `operationId` in the OpenAPI document.
    #[must_use]
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Serves callers who are limited to a part of the roster: the handler passes [`Context::reach`] to every query.
    #[must_use]
    pub fn within_reach(mut self) -> Self {
        self.limited_callers = LimitedCallers::Served;
        self
    }

    /// Serves callers who are limited to a part of the roster like everybody: nothing that the route reads or changes
    /// belongs to an organization.
    #[must_use]
    pub fn of_no_organization(mut self) -> Self {
        self.limited_callers = LimitedCallers::Unaffected;
        self
    }

    /// A page or form that also needs another scope than its screen.
    #[must_use]
    pub fn needing(mut self, scope: Scope) -> Self {
        if let Access::Page(scopes) = &mut self.access {
            *scopes = scopes.with(scope);
        }
        self
    }

    /// A route of content that all organizations share: callers who are limited to a part of the roster read it like
    /// everybody, and change none of it.
    #[must_use]
    pub fn of_shared_content(mut self) -> Self {
        self.limited_callers = match self.method {
            Method::GET => LimitedCallers::Unaffected,
            _ => LimitedCallers::Refused,
        };
        self
    }

    /// Describes the route in one sentence.
    #[must_use]
    pub fn description(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.description = text.into();
        self
    }

    /// Adds a parameter.
    #[must_use]
    pub fn param(
        mut self,
        place: ParamPlace,
        name: impl Into<Cow<'static, str>>,
        schema: Value,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (name, description) = (name.into(), description.into());
        self.params.push(Param { name, place, schema, description, repeats: false });
        self
    }

    /// Adds the parameter `limit` of a list. A larger number is lowered to the maximum.
    #[must_use]
    pub fn page_limit(self, default: impl Into<Value>, maximum: impl Into<Value>) -> Self {
        let (default, maximum): (Value, Value) = (default.into(), maximum.into());
        let schema =
            json!({ "type": "integer", "minimum": 1, "maximum": maximum, "default": default });
        let description = "Entries on the page at most. A larger number is lowered to the maximum, \
                           and the header X-Lyceum-Notice says so.";
        self.param(ParamPlace::Query, "limit", schema, description)
    }

    /// The parameter that was added last may be repeated in the query.
    #[must_use]
    pub fn repeating(mut self) -> Self {
        self.params.last_mut().expect("a parameter comes before it repeats").repeats = true;
        self
    }

    /// Adds an answer with this type as JSON.
    #[must_use]
    pub fn answers<T: JsonSchema + ?Sized + 'static>(
        self,
        status: u16,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.answer(
            status,
            description,
            Some(("application/json", Arc::new(TypeSchema::output::<T>))),
        )
    }

    /// Adds an answer with JSON whose schema was generated from the declaration of a kind of records.
    #[must_use]
    pub fn answers_kind<S: Into<TypeSchema>>(
        self,
        status: u16,
        description: impl Into<Cow<'static, str>>,
        schema: impl Fn() -> S + Send + Sync + 'static,
    ) -> Self {
        self.answer(
            status,
            description,
            Some(("application/json", Arc::new(move || schema().into()))),
        )
    }

    /// Adds an answer with one JSON value of this type a line.
    #[must_use]
    pub fn answers_lines<T: JsonSchema + 'static>(
        self,
        status: u16,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.answer(
            status,
            description,
            Some(("application/x-ndjson", Arc::new(TypeSchema::output::<T>))),
        )
    }

    /// Adds an answer without a body.
    #[must_use]
    pub fn answers_empty(self, status: u16, description: impl Into<Cow<'static, str>>) -> Self {
        self.answers_as(status, description, None)
    }

    /// Adds an answer with a body of any media type.
    #[must_use]
    pub fn answers_as(
        self,
        status: u16,
        description: impl Into<Cow<'static, str>>,
        body: Option<(&'static str, Value)>,
    ) -> Self {
        self.answer(status, description, body.map(|(media, schema)| (media, fixed_schema(schema))))
    }

    fn answer(
        mut self,
        status: u16,
        description: impl Into<Cow<'static, str>>,
        body: Option<(&'static str, SchemaSource)>,
    ) -> Self {
        let status = StatusCode::from_u16(status).expect("a route documents real status codes");
        self.answers.push(RouteAnswer {
            status,
            description: description.into(),
            body,
            headers: &[],
        });
        self
    }

    /// Adds headers to the answer that was added last.
    #[must_use]
    pub fn with_headers(mut self, headers: &'static [AnswerHeader]) -> Self {
        self.answers.last_mut().expect("an answer comes before its headers").headers = headers;
        self
    }

    /// Sets the type as which [`Context::body_as`] parses the body.
    #[must_use]
    pub fn reads<T: JsonSchema + 'static>(mut self) -> Self {
        self.reads.schema = Some(Arc::new(TypeSchema::input::<T>));
        self.reads.type_id = Some(TypeId::of::<T>());
        self
    }

    /// Sets the JSON Schema of a body, which was generated from the declaration of a kind of records.
    #[must_use]
    pub fn reads_kind<S: Into<TypeSchema>>(
        mut self,
        schema: impl Fn() -> S + Send + Sync + 'static,
    ) -> Self {
        self.reads.schema = Some(Arc::new(move || schema().into()));
        self
    }

    /// Sets other media types than JSON for the body. Unless it is described, a body of these types may be anything.
    #[must_use]
    pub fn reads_as(mut self, media: &'static [&'static str]) -> Self {
        self.reads.media = media;
        self.reads.schema.get_or_insert_with(|| fixed_schema(json!({})));
        self
    }

    /// Lets the handler refuse JSON objects with a repeated key, for example to store the rejected body.
    #[must_use]
    pub fn checks_keys(mut self) -> Self {
        self.reads.checks_keys = true;
        self
    }

    /// Sets the most bytes of the body, instead of the limit from the settings.
    #[must_use]
    pub fn reads_up_to(mut self, bytes: usize) -> Self {
        self.reads.max_bytes = Some(bytes);
        self
    }

    /// Makes a change that applies only to the version in `If-Match`, which the handler gets from
    /// [`crate::etag::expected`]. On other routes, changes with this header are refused before the handler runs.
    #[must_use]
    pub fn of_version(mut self) -> Self {
        self.takes_version = true;
        let description =
            "The ETag of the version to change; 412 if the record has another version.";
        self.param(ParamPlace::Header, "If-Match", json!({ "type": "string" }), description)
    }

    /// Deletes the project of its path. Afterwards no node holds the project, so success does not depend on whether this
    /// node still does.
    #[must_use]
    pub fn ends_project(mut self) -> Self {
        self.ends_project = true;
        self
    }

    /// Marks the route as deprecated.
    #[must_use]
    pub fn deprecated(mut self) -> Self {
        self.deprecated = true;
        self
    }
}

/// Routes that share a base path and an error format.
pub struct Area<A> {
    /// The name, which is the tag in the OpenAPI document and the label in metrics and logs.
    pub name: &'static str,
    /// The common prefix of all paths, such as `/ims/oneroster/rostering/v1p2`; may be empty. Unknown paths below it
    /// are answered in the area's error format.
    pub base: &'static str,
    /// The error format.
    pub rendering: Rendering,
    /// Describes the area.
    pub description: &'static str,
    /// The routes.
    pub routes: Vec<Route<A>>,
}
