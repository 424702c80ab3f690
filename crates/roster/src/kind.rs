//! The declaration of a record kind.
//!
//! A declaration is data. The engine derives everything from it: routes, columns and indexes,
//! validation, filters, CSV, OpenAPI. Rules that data cannot express are functions in [`crate::rules`].

use lyceum_core::text::segment;

use crate::rules::KindRules;

/// The three services of OneRoster 1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// `/ims/oneroster/rostering/v1p2`
    Rostering,
    /// `/ims/oneroster/gradebook/v1p2`
    Gradebook,
    /// `/ims/oneroster/resources/v1p2`
    Resources,
}

impl Service {
    /// The path under which the service's addresses live.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Rostering => "/ims/oneroster/rostering/v1p2",
            Self::Gradebook => "/ims/oneroster/gradebook/v1p2",
            Self::Resources => "/ims/oneroster/resources/v1p2",
        }
    }
}

/// A kind of record, such as `course`.
#[derive(Debug)]
pub struct RecordKind {
    /// Its name, wrapper key and reference type: `course`.
    pub one: &'static str,
    /// Its collection key: `courses`.
    pub many: &'static str,
    /// Its table, and the path of its single reads with `/` for every `_` if it is nested.
    pub table: &'static str,
    /// The path of its collection, which is also that of its `href`s: `courses`.
    pub path: &'static str,
    /// The service that it belongs to.
    pub service: Service,
    /// Its description in one sentence.
    pub doc: &'static str,
    /// The way from its records to the organizations that they belong to.
    pub organization: OrganizationPath,
    /// Its own fields; `sourcedId`, `status`, `dateLastModified` and `metadata` belong to all.
    pub fields: &'static [Field],
    /// Rules that its fields cannot express.
    pub rules: KindRules,
}

/// The way from a record to the organizations that it belongs to. It decides which records a caller with a limited
/// [`Reach`](lyceum_core::Reach) sees and changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrganizationPath {
    /// The record is an organization.
    Itself,
    /// The organization in its field `school`. Its class is in the field `class`, unless it is a class itself.
    School,
    /// The organizations of the user's roles.
    Roles,
    /// The organization that owns the course. The organizations below it and those whose classes teach it see it, too.
    /// Everybody sees a course without an owner.
    Course,
    /// The organizations of the record that the field of this name refers to.
    Through(&'static str),
    /// As `Through`. Everybody sees a record that refers to none.
    ThroughIfAny(&'static str),
    /// The organizations of the user with the same sourcedId.
    UserOfSameId,
    /// All: everybody sees the record, and only callers without a limit change it.
    Shared,
}

/// A field of a record.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its type.
    pub ty: FieldType,
    /// Whether it is required.
    pub presence: Presence,
    /// Whether only the platform dialect has it (the standard's payloads are closed).
    pub platform: bool,
    /// Whether a column or a link contains it in addition to the JSON.
    pub storage: FieldStorage,
    /// Whether `search` looks into it.
    pub searched: bool,
    /// Whether it is the title of the record, which must be a text that is not blank.
    pub is_title: bool,
    /// The records to which its references may point.
    pub target: ReferenceTarget,
    /// Its description for the API document.
    pub doc: &'static str,
}

/// The records to which a reference may point when it is set. Later changes of the target do not affect the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceTarget {
    /// Any record of the kind.
    Any,
    /// A record that is in use.
    InUse,
    /// An organization of type `school`.
    School,
}

/// The storage of a field in addition to the JSON. References are always indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldStorage {
    /// Nothing: filters read the JSON.
    Json,
    /// A column, for filters that an index would not help.
    Column,
    /// A column with an index, or a link for each member of a list.
    Indexed,
}

/// Whether a field is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// May be missing.
    Optional,
    /// Required in both dialects.
    Required,
    /// Required by the standard; clients of the platform may leave it out and get this value.
    OrElse(&'static str),
    /// Required by the standard; where the platform's client leaves it out, a rule derives it.
    Derived,
    /// Optional, and written as `null` if it is missing.
    Nullable,
}

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub enum FieldType {
    /// Text, compared without regard to ASCII case.
    Text,
    /// An absolute URI.
    Uri,
    /// `"true"` or `"false"`; JSON booleans are read too.
    Flag,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A calendar date, `2026-01-15`.
    Date,
    /// An instant, `2026-01-15T08:00:00.000Z`.
    Instant,
    /// A word of the vocabulary, or `ext:…` where it is open.
    Word(Vocabulary),
    /// A reference to a record of the named kind.
    Reference(&'static str),
    /// References to records of the named kind.
    References(&'static str),
    /// A list of texts.
    Texts,
    /// A list of grades of the table in [`crate::grade`]; compared by value.
    Grades,
    /// A list of words.
    WordList(Vocabulary),
    /// A list of objects with these fields.
    Objects(&'static [Field]),
    /// Text that is accepted and never kept: passwords.
    Secret,
    /// Any JSON value, kept as sent.
    Json,
}

/// A vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary {
    /// Its words.
    pub words: &'static [&'static str],
    /// The other words that are allowed.
    pub open: VocabularyExtension,
    /// Words that only the platform dialect has.
    pub platform: &'static [&'static str],
}

/// The extensions that a vocabulary allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VocabularyExtension {
    /// Not at all.
    Closed,
    /// `ext:` and letters, digits, `.`, `-`, `_` (OneRoster 1.2 extension vocabulary).
    Extensions,
    /// `/` and lower-case letters or digits (OneRoster 1.2 learning objective source).
    Sources,
}

impl Vocabulary {
    /// The vocabulary with words that only the platform dialect has.
    #[must_use]
    pub const fn platform(mut self, words: &'static [&'static str]) -> Self {
        self.platform = words;
        self
    }

    /// Whether only the platform dialect has the word.
    pub fn is_platforms(self, word: &serde_json::Value) -> bool {
        word.as_str().is_some_and(|word| self.platform.contains(&word))
    }

    /// Whether the word belongs to the vocabulary.
    pub fn allows(self, word: &str) -> bool {
        self.words.contains(&word)
            || match self.open {
                VocabularyExtension::Closed => false,
                VocabularyExtension::Extensions => word.strip_prefix("ext:").is_some_and(|rest| {
                    !rest.is_empty()
                        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b))
                }),
                VocabularyExtension::Sources => word.strip_prefix('/').is_some_and(|rest| {
                    !rest.is_empty()
                        && !self.words.contains(&rest)
                        && rest.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
                }),
            }
    }
}

/// A closed vocabulary.
pub const fn closed_vocabulary(words: &'static [&'static str]) -> Vocabulary {
    Vocabulary { words, open: VocabularyExtension::Closed, platform: &[] }
}

/// A vocabulary that also allows `ext:…`.
pub const fn open(words: &'static [&'static str]) -> Vocabulary {
    Vocabulary { words, open: VocabularyExtension::Extensions, platform: &[] }
}

/// A field of any type.
pub const fn field(name: &'static str, ty: FieldType) -> Field {
    Field {
        name,
        ty,
        presence: Presence::Optional,
        platform: false,
        storage: FieldStorage::Json,
        searched: false,
        is_title: false,
        target: ReferenceTarget::Any,
        doc: "",
    }
}

/// A text field.
pub const fn text(name: &'static str) -> Field {
    field(name, FieldType::Text)
}

/// A text field that says what people call the record; `search` looks into it.
pub const fn title(name: &'static str) -> Field {
    let mut title = text(name).searched();
    title.is_title = true;
    title
}

/// A field of one word of a vocabulary.
pub const fn word(name: &'static str, words: Vocabulary) -> Field {
    field(name, FieldType::Word(words))
}

/// A `"true"`/`"false"` field.
pub const fn flag(name: &'static str) -> Field {
    field(name, FieldType::Flag)
}

/// A reference to one record.
pub const fn reference(name: &'static str, kind: &'static str) -> Field {
    field(name, FieldType::Reference(kind))
}

/// References to many records.
pub const fn references(name: &'static str, kind: &'static str) -> Field {
    field(name, FieldType::References(kind))
}

impl Field {
    /// The field is required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.presence = Presence::Required;
        self
    }

    /// The standard requires the field; in the platform dialect it may be left out for this value.
    #[must_use]
    pub const fn or_else(mut self, value: &'static str) -> Self {
        self.presence = Presence::OrElse(value);
        self
    }

    /// The standard requires the field; in the platform dialect a rule derives it.
    #[must_use]
    pub const fn derived(mut self) -> Self {
        self.presence = Presence::Derived;
        self
    }

    /// The field is written as `null` if it is missing.
    #[must_use]
    pub const fn nullable(mut self) -> Self {
        self.presence = Presence::Nullable;
        self
    }

    /// Only the platform dialect has the field.
    #[must_use]
    pub const fn platform(mut self) -> Self {
        self.platform = true;
        self
    }

    /// An index answers filters on the field.
    #[must_use]
    pub const fn indexed(mut self) -> Self {
        self.storage = FieldStorage::Indexed;
        self
    }

    /// A column holds the field, without an index.
    #[must_use]
    pub const fn column(mut self) -> Self {
        self.storage = FieldStorage::Column;
        self
    }

    /// `search` looks into the field. Lists are often sorted by it, so it also has a column.
    #[must_use]
    pub const fn searched(mut self) -> Self {
        self.searched = true;
        if matches!(self.storage, FieldStorage::Json) {
            self.storage = FieldStorage::Column;
        }
        self
    }

    /// The field refers to a record in use.
    #[must_use]
    pub const fn in_use(mut self) -> Self {
        self.target = ReferenceTarget::InUse;
        self
    }

    /// The field refers to a school.
    #[must_use]
    pub const fn school(mut self) -> Self {
        self.target = ReferenceTarget::School;
        self
    }

    /// Says what the field means.
    #[must_use]
    pub const fn doc(mut self, doc: &'static str) -> Self {
        self.doc = doc;
        self
    }

    /// The name of the column that holds the field's value, if one does. Lists have links
    /// instead.
    pub fn column_name(&self) -> Option<String> {
        let end = if matches!(self.ty, FieldType::Reference(_)) { "_id" } else { "" };
        self.has_column().then(|| snake(self.name) + end)
    }

    /// Whether a column holds the field's value.
    pub fn has_column(&self) -> bool {
        match self.ty {
            FieldType::Reference(_) => true,
            FieldType::Texts
            | FieldType::Grades
            | FieldType::WordList(_)
            | FieldType::Objects(_) => false,
            _ => self.storage != FieldStorage::Json,
        }
    }

    /// Whether `roster_link` holds members of the field.
    pub(crate) fn has_links(&self) -> bool {
        match self.ty {
            FieldType::References(_) => true,
            FieldType::Texts | FieldType::Grades => self.is_indexed(),
            FieldType::Objects(fields) => fields.iter().any(|it| it.is_indexed() || it.has_links()),
            _ => false,
        }
    }

    /// Whether an index answers filters on the field.
    pub fn is_indexed(&self) -> bool {
        self.storage == FieldStorage::Indexed
            || matches!(self.ty, FieldType::Reference(_) | FieldType::References(_))
    }
}

/// Kinds are the same when their names are: each is declared once.
impl PartialEq for RecordKind {
    fn eq(&self, other: &Self) -> bool {
        self.one == other.one
    }
}

impl Eq for RecordKind {}

impl RecordKind {
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The address of the record with that sourcedId on the server with that address.
    pub fn address(&self, base_url: &str, sourced_id: &str) -> String {
        format!("{base_url}{}/{}/{}", self.service.prefix(), self.path, segment(sourced_id))
    }

    /// The fields that have a column, in the order of the declaration.
    pub fn columns(&self) -> impl Iterator<Item = (&'static Field, String)> {
        self.fields.iter().filter_map(|field| field.column_name().map(|column| (field, column)))
    }
}

/// `lineItem` as `line_item`.
fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
