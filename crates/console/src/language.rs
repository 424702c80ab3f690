//! Texts in the language of the reader. The English sentence is the key of the catalogue `locales/es.json`.
//!
//! Write [`t!`](crate::t), [`plural!`](crate::plural) and [`rich!`](crate::rich) around each text that a page shows, in
//! templates and in Rust. [`translated`] is for labels that are constants, such as those of columns.
//!
//! The language is a variable of the thread, which a request sets each time its future runs. Work in transactions may
//! run on other threads, so it makes no texts. Exported lists are in English, because programs read them.

mod catalogue;
mod markup;

use std::cell::Cell;

use askama::filters::Safe;
use lyceum_core::Message;
use lyceum_core::language::Language;

use crate::words;

pub use catalogue::ProblemText;

thread_local! {
    static READER: Cell<Language> = const { Cell::new(Language::English) };
}

/// Does work in the language of a reader. All texts and numbers that the work makes are in this language.
pub fn within<T>(language: Language, work: impl FnOnce() -> T) -> T {
    struct Former(Language);
    impl Drop for Former {
        fn drop(&mut self) {
            READER.set(self.0);
        }
    }
    // A panic restores the former language, too.
    let _former = Former(READER.replace(language));
    work()
}

/// The language of the reader for whom the current work is done.
pub fn reader() -> Language {
    READER.get()
}

/// The tag of the reader's language, for the attribute `lang` of a page.
pub fn tag() -> &'static str {
    reader().tag()
}

/// The languages that the reader can change to: each tag with the language's own name.
pub fn others() -> impl Iterator<Item = (&'static str, &'static str)> {
    let others = Language::ALL.into_iter().filter(|language| *language != reader());
    others.map(|language| (language.tag(), language.name()))
}

/// A value in a text.
pub trait ValueInText {
    /// The value in the reader's language.
    fn text(&self) -> String;
}

impl ValueInText for str {
    fn text(&self) -> String {
        self.to_owned()
    }
}

impl ValueInText for String {
    fn text(&self) -> String {
        self.clone()
    }
}

impl<T: ValueInText + ?Sized> ValueInText for &T {
    fn text(&self) -> String {
        (**self).text()
    }
}

macro_rules! whole_numbers_are_shown {
    ($($number:ty)*) => {$(
        impl ValueInText for $number {
            fn text(&self) -> String {
                words::count(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }
    )*};
}

whole_numbers_are_shown!(i8 i16 i32 i64 u8 u16 u32 u64 usize);

impl ValueInText for f64 {
    fn text(&self) -> String {
        words::number(*self)
    }
}

/// A text in the reader's language, such as `t!("Welcome, {name}", name = owner)`.
#[macro_export]
macro_rules! t {
    ($english:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::language::text(
            $english,
            &[$((stringify!($name), $crate::language::ValueInText::text(&$value))),*],
        )
    };
}

/// A text that depends on a count, which it shows as `{n}`: `plural!(count, "{n} student", "{n} students")`.
#[macro_export]
macro_rules! plural {
    ($count:expr, $one:literal, $other:literal $(, $name:ident = $value:expr)* $(,)?) => {{
        let n = $crate::language::ValueInText::text(&$count);
        $crate::language::text(
            $crate::language::form(n == "1", ($one, $other)),
            &[("n", n), $((stringify!($name), $crate::language::ValueInText::text(&$value))),*],
        )
    }};
}

/// A text as HTML, in which `code`, **strong words** and [links]({address}) are marked. Values are escaped.
#[macro_export]
macro_rules! rich {
    ($english:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::language::html(
            $english,
            &[$((stringify!($name), $crate::language::ValueInText::text(&$value))),*],
        )
    };
}

/// The same as [`rich!`](crate::rich) for a text that depends on a count, as in [`plural!`](crate::plural).
#[macro_export]
macro_rules! rich_plural {
    ($count:expr, $one:literal, $other:literal $(, $name:ident = $value:expr)* $(,)?) => {{
        let n = $crate::language::ValueInText::text(&$count);
        $crate::language::html(
            $crate::language::form(n == "1", ($one, $other)),
            &[("n", n), $((stringify!($name), $crate::language::ValueInText::text(&$value))),*],
        )
    }};
}

/// A text without values in the reader's language.
pub fn translated(english: &str) -> String {
    text(english, &[])
}

/// A message in the reader's language; in English if the catalogue does not have it.
pub fn message(english: &Message) -> String {
    catalogue::message(reader(), english).unwrap_or_else(|| english.to_string())
}

/// The same message as a sentence, with a capital letter and a full stop.
pub fn sentence(english: &Message) -> String {
    catalogue::sentence(&message(english))
}

/// The function that [`t!`](crate::t) expands to.
pub fn text(english: &str, values: &[(&str, String)]) -> String {
    marked(filled(catalogue::text(reader(), english), values))
}

/// The English form of a text for one thing or several ones. The catalogue has both forms as keys.
pub fn form(is_one: bool, (one, other): (&'static str, &'static str)) -> &'static str {
    if is_one { one } else { other }
}

/// The function that [`rich!`](crate::rich) expands to.
pub fn html(english: &str, values: &[(&str, String)]) -> Safe<String> {
    Safe(marked(markup::html(catalogue::text(reader(), english), values)))
}

/// The text with its mark, if the reader's language has marks.
fn marked(text: String) -> String {
    if reader() == Language::Marked && !text.is_empty() { format!("⟦{text}⟧") } else { text }
}

/// Replaces each `{name}` by its value.
fn filled(pattern: &str, values: &[(&str, String)]) -> String {
    let value = |name: &str| values.iter().find(|(known, _)| *known == name);
    lyceum_core::message::filled(pattern, |name| value(name).map(|(_, value)| value.into()))
}
