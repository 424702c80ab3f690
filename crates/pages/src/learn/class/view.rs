//! Sign-in in class: the pages on which students enter a code, choose their names and answer with pictures or words, and
//! those on which teachers open a class and print cards.

use askama::Template;
use lyceum_console::language::ProblemText;
use lyceum_console::{Column, Frame, List, assets};

/// The columns of the list of a class's students.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("name", "Student"),
    Column::text("account", "Account"),
    Column::text("card", "Card"),
    Column::buttons("New pictures"),
    Column::buttons("New words"),
];

/// The address of a picture, by its name such as `cat`.
fn picture(name: &str) -> Option<String> {
    assets::address(&format!("{name}.svg"))
}

/// The name of a picture, in the reader's language.
fn picture_name(name: &str) -> String {
    match name {
        "apple" => t!("apple"),
        "bird" => t!("bird"),
        "boat" => t!("boat"),
        "car" => t!("car"),
        "cat" => t!("cat"),
        "fish" => t!("fish"),
        "flower" => t!("flower"),
        "house" => t!("house"),
        "snail" => t!("snail"),
        "sun" => t!("sun"),
        "tree" => t!("tree"),
        "umbrella" => t!("umbrella"),
        other => other.to_owned(),
    }
}

/// The page on which a student enters the code of a class.
#[derive(Template)]
#[template(path = "learn/class/class_code.html")]
pub(crate) struct ClassCodePage {
    /// The token that each form sends in its field `token`, against forged requests.
    pub token: String,
    /// Why the previous submission failed.
    pub problem: Option<ProblemText>,
}

/// The page on which a student chooses the own name.
#[derive(Template)]
#[template(path = "learn/class/class_names.html")]
pub(crate) struct ClassNamesPage {
    /// The token that each form sends in its field `token`, against forged requests.
    pub token: String,
    /// The title of the class.
    pub class: String,
    /// The id of the account and the shown name of each student who can sign in.
    pub students: Vec<(String, String)>,
}

/// The page on which a student answers with pictures or words.
#[derive(Template)]
#[template(path = "learn/class/class_secret.html")]
pub(crate) struct ClassSecretPage {
    /// The token that each form sends in its field `token`, against forged requests.
    pub token: String,
    /// The id of the student's account.
    pub student: String,
    /// The shown name of the student.
    pub name: String,
    /// Why the previous answer was refused.
    pub problem: Option<ProblemText>,
    /// The pictures to choose from; empty if the student types words.
    pub pictures: &'static [&'static str],
    /// The first picture, if the student has chosen it.
    pub first: Option<String>,
}

/// The page on which a teacher gives a class access.
#[derive(Template)]
#[template(path = "learn/class/class_access.html")]
pub(crate) struct ClassAccessPage {
    /// The frame.
    pub frame: Frame,
    /// The class's page, and its title.
    pub class: (String, String),
    /// The address of this page.
    pub path: String,
    /// The code of the open class and when it closes.
    pub open: Option<(String, String)>,
    /// The address at which students enter the code, such as `https://lyceum.example.org/learn/class`.
    pub address: String,
    /// The minutes that a class can be open at most.
    pub max_minutes: i64,
    /// The number of students without an account or card.
    pub waiting: usize,
    /// The students.
    pub list: List,
}

/// A card of a student.
pub(crate) struct StudentCard {
    /// The name of the student.
    pub name: String,
    /// Whether the parts are the names of pictures; otherwise they are words.
    pub is_pictures: bool,
    /// The pictures or words, in their order.
    pub parts: [String; 2],
}

/// The sheet of cards of a class.
#[derive(Template)]
#[template(path = "learn/class/class_cards.html")]
pub(crate) struct ClassCardsPage {
    /// The frame.
    pub frame: Frame,
    /// The page that leads here, and its title.
    pub access: (String, String),
    /// The address at which students enter the code.
    pub address: String,
    /// The cards.
    pub cards: Vec<StudentCard>,
}
