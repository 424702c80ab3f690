//! Texts, numbers and times in the language of the reader.

use jiff::civil::{Date, date};
use lyceum_console::language::{ProblemText, message, reader, sentence, within};
use lyceum_console::words::{
    brief, count, day, grade, moment, moment_with_seconds, number, share, span, weekday,
};
use lyceum_console::{Cell, Column, List, plural, rich, rich_plural, t};
use lyceum_core::language::Language::{self, English, Marked, Spanish};
use lyceum_core::{Detail, Message, message};

use crate::query;

fn each(text: impl Fn() -> String) -> [String; 3] {
    [English, Spanish, Marked].map(|language| within(language, &text).replace('\u{a0}', " "))
}

#[test]
fn texts_are_in_the_language_of_the_reader() {
    assert_eq!(each(|| t!("Sign in")), ["Sign in", "Iniciar sesión", "⟦Sign in⟧"]);
    let name = "Ana {n}";
    assert_eq!(
        each(|| t!("Welcome, {name}", name = name)),
        ["Welcome, Ana {n}", "Hola, Ana {n}", "⟦Welcome, Ana {n}⟧"]
    );
    let students = |n: usize| move || plural!(n, "{n} student", "{n} students");
    assert_eq!(each(students(1)), ["1 student", "1 estudiante", "⟦1 student⟧"]);
    assert_eq!(each(students(2_000)), ["2,000 students", "2.000 estudiantes", "⟦2,000 students⟧"]);
    assert_eq!(reader(), English, "the language ends with the work");
}

#[test]
fn a_panic_ends_the_language() {
    let work = || within(Spanish, || panic!("on purpose"));
    assert!(std::panic::catch_unwind(work).is_err());
    assert_eq!(reader(), English);
}

#[test]
fn marked_up_texts_are_html_and_values_stay_text() {
    let text = || rich!("Learner: [{name}]({page})", name = "<b>", page = "/a?b=1&c=2").to_string();
    assert_eq!(
        each(text)[..2],
        [
            "Learner: <a href=\"/a?b=1&amp;c=2\">&lt;b&gt;</a>",
            "Estudiante: <a href=\"/a?b=1&amp;c=2\">&lt;b&gt;</a>"
        ]
    );
    let classes = || rich_plural!(3, "**{n}** class", "**{n}** classes").to_string();
    assert_eq!(each(classes)[..2], ["<strong>3</strong> classes", "<strong>3</strong> clases"]);
}

#[test]
fn numbers_and_times_have_the_format_of_the_language() {
    let today: Date = date(2026, 11, 26);
    let at = date(2026, 11, 24).at(14, 5, 9, 0);
    let formats: [(&dyn Fn() -> String, [&str; 2]); 13] = [
        (&|| count(2_000), ["2,000", "2.000"]),
        (&|| number(1_204.5), ["1,204.5", "1.204,5"]),
        (&|| share(5, 6), ["83%", "83 %"]),
        (&|| brief(2_500), ["2.5 s", "2,5 s"]),
        (&|| span(172_800), ["2 days", "2 días"]),
        (&|| day(at.date(), today), ["24 Nov", "24 nov"]),
        (&|| day(date(2025, 9, 1), today), ["1 Sep 2025", "1 sept 2025"]),
        (&|| moment(at, today), ["24 Nov, 14:05", "24 nov, 14:05"]),
        (&|| moment_with_seconds(at, today), ["24 Nov, 14:05:09", "24 nov, 14:05:09"]),
        (&|| weekday(at.weekday()), ["Tuesday", "martes"]),
        (&|| grade("04"), ["Grade 4", "4.º grado"]),
        (&|| grade("00"), ["Kindergarten", "Kínder"]),
        (&|| grade("Year 7"), ["Year 7", "Year 7"]),
    ];
    for (shown, expected) in formats {
        assert_eq!(each(shown)[..2], expected);
    }
}

#[test]
fn a_problem_without_translation_is_marked_as_english() {
    let shown = |language: Language, message: &Message| {
        within(language, || ProblemText::of(message.clone()).to_string())
    };
    let known = &message!("too many attempts; try again in {n} minutes", n = 3);
    assert_eq!(shown(English, known), "Too many attempts; try again in 3 minutes.");
    assert_eq!(shown(Spanish, known), "Demasiados intentos; hay que probar otra vez en 3 minutos.");
    let other = &message!("the <file> of `{name}` is old", name = "x");
    assert_eq!(shown(English, other), "The &lt;file&gt; of <code>x</code> is old.");
    assert_eq!(
        shown(Spanish, other),
        "<span lang=\"en\">The &lt;file&gt; of <code>x</code> is old.</span>"
    );
}

#[test]
fn a_message_is_translated_with_its_parts_and_its_values_stay() {
    let detail = |path: &str, message: Message| Detail { path: path.to_owned(), message }.text();
    let required = || Message::from("is required");
    let kind = || Message::from("a number");
    for (english, spanish) in [
        (
            message!("{first} (and {n} more)", first = detail("email", required()), n = 2),
            "correo electrónico: es obligatorio (y 2 más)",
        ),
        (
            message!("must be {name} (got {value})", name = kind(), value = "null"),
            "debe ser un número, y no null",
        ),
        (
            Message::joined([detail("id", required()), detail("name", "must be a string".into())]),
            "id: es obligatorio; nombre: debe ser un texto",
        ),
        (
            message!(
                "the target did not answer: {reason}",
                reason = Message::untranslated("strange")
            ),
            "el destino no respondió: strange",
        ),
        (
            message!(
                "Unknown Object: there is no {what} with the sourcedId '{id}'",
                what = "class",
                id = "{what}"
            ),
            "no hay ningún registro del tipo «clase» con el sourcedId «{what}»",
        ),
        ("no message of this server".into(), "no message of this server"),
    ] {
        assert_eq!(within(Spanish, || message(&english)), spanish);
        assert_eq!(within(English, || message(&english)), english.to_string());
        let stored = Message::from_stored(english.stored());
        assert_eq!(within(Spanish, || message(&stored)), spanish);
    }
    assert_eq!(within(Spanish, || sentence(&required())), "Es obligatorio.");
}

#[test]
fn a_list_is_translated_and_its_rows_stay_as_they_are() {
    const COLUMNS: &[Column] = &[Column::text("name", "Name"), Column::number("xp", "XP")];
    let list = |text: &str| {
        let names = ["Ávila", "Avery", "zoe", "Bea"];
        let rows = names.map(|name| vec![Cell::text(name), Cell::count(2_000)]).to_vec();
        List::new("Students", COLUMNS, query(text), rows)
    };
    let html = within(Spanish, || lyceum_console::html(&list("sort=name")).unwrap());
    for text in ["Estudiantes, tabla", "Nombre", "1–4 de 4", "2.000"] {
        assert!(html.contains(text), "{text}: {html}");
    }
    let places = ["Avery", "Ávila", "Bea", "zoe"].map(|name| html.find(name).unwrap());
    assert!(places.is_sorted(), "accents and case do not matter: {places:?}");
    let file = list("export=csv").exported(lyceum_console::ExportFormat::Csv).unwrap();
    assert!(String::from_utf8(file).unwrap().starts_with("name,xp\nÁvila,2000"), "raw values");
}
