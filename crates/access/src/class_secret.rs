//! The secrets of students for sign-in in class: two pictures or two words, few enough for the youngest. They open
//! nothing without the code of an open class. Teachers print them on cards, so they are stored sealed.

use std::collections::HashMap;
use std::str::FromStr;

use lyceum_core::messages::must_be_one_of;
use lyceum_core::random::secret_bytes;
use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, Result};
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::class_sign_in::student_tries;
use crate::master::MasterKey;
use crate::repository::{class_sign_ins as repository, guesses, sessions};
use crate::sealed::SealedColumn;
use crate::secret;

/// The names of the pictures, in the order in which they are shown.
pub const PICTURES: [&str; 12] = [
    "cat", "fish", "bird", "snail", "flower", "tree", "apple", "sun", "boat", "house", "car",
    "umbrella",
];

/// The words of word secrets: short, and spelled as they sound.
const WORDS: [&str; 64] = [
    "ant", "bag", "ball", "bat", "bed", "bell", "box", "bus", "cap", "cup", "dad", "desk", "dog",
    "doll", "drum", "duck", "egg", "fan", "fox", "frog", "gift", "goat", "hand", "hat", "hen",
    "hill", "hut", "ink", "jam", "jet", "jug", "kid", "lamp", "leg", "log", "lunch", "man", "map",
    "milk", "mop", "mug", "nest", "net", "nut", "pan", "pen", "pig", "pin", "plum", "pond", "pot",
    "rat", "ring", "rug", "sand", "shop", "sock", "sun", "tent", "top", "van", "vet", "web", "zip",
];

/// The kind of a student's secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ClassSecretKind {
    /// Two pictures.
    Pictures,
    /// Two words.
    Words,
}

impl FromStr for ClassSecretKind {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        match text {
            "pictures" => Ok(Self::Pictures),
            "words" => Ok(Self::Words),
            _ => Err(must_be_one_of(&["pictures", "words"], text)),
        }
    }
}

/// The secret of a student.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassSecret {
    /// Its kind.
    pub kind: ClassSecretKind,
    /// The names of the pictures, or the words.
    pub parts: [String; 2],
}

/// The text that a student enters, or the pictures that a student chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassAnswer(String);

impl ClassAnswer {
    /// The answer of two pictures that were chosen.
    pub fn from_pictures(first: &str, second: &str) -> Self {
        Self(format!("{first} {second}"))
    }

    /// The answer of words that were typed, with any case and spaces.
    pub fn from_words(typed: &str) -> Self {
        Self(typed.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase())
    }
}

impl ClassSecret {
    fn random(kind: ClassSecretKind) -> Self {
        let part = |byte: u8| match kind {
            ClassSecretKind::Pictures => PICTURES[usize::from(byte) % PICTURES.len()],
            ClassSecretKind::Words => WORDS[usize::from(byte) % WORDS.len()],
        };
        Self { kind, parts: secret_bytes::<2>().map(part).map(str::to_owned) }
    }

    pub(crate) fn is_answered_by(&self, answer: &ClassAnswer) -> bool {
        secret::is_equal(&secret::hash(&self.parts.join(" ")), &secret::hash(&answer.0))
    }
}

/// Replaces the secret of a student with a new one of the kind. Sessions from class sign-in end, and wrong answers are
/// forgotten.
pub fn renew(
    tx: &mut Tx<'_>,
    now: Timestamp,
    master: &MasterKey,
    person: &str,
    kind: ClassSecretKind,
) -> Result<ClassSecret> {
    let new = ClassSecret::random(kind);
    let plain = serde_json::to_vec(&new).map_err(Problem::internal)?;
    repository::set_secret(tx, now, person, &master.seal(&label(person), &plain))?;
    guesses::delete(tx, &secret::hash(&student_tries(person)))?;
    sessions::delete_class_sessions_of(tx, person)?;
    Ok(new)
}

/// The secret of a student; `None` if the student has none.
pub fn open_secret(
    tx: &mut Tx<'_>,
    master: &MasterKey,
    person: &str,
) -> Result<Option<ClassSecret>> {
    Ok(open_secrets(tx, master, &[person])?.remove(person))
}

/// The secrets of those of these students who have one, by the id of the account. One statement.
pub fn open_secrets(
    tx: &mut Tx<'_>,
    master: &MasterKey,
    people: &[&str],
) -> Result<HashMap<String, ClassSecret>> {
    let opened = repository::secrets(tx, people)?.into_iter().map(|(person, sealed)| {
        let plain = master.open(&label(&person), &sealed).ok_or_else(|| {
            Problem::internal("a class secret was sealed with another master key than this one")
        })?;
        Ok((person, serde_json::from_slice(&plain).map_err(Problem::internal)?))
    });
    opened.collect()
}

pub(crate) const SEALED_SECRETS: SealedColumn = SealedColumn {
    table: "class_secrets",
    column: "sealed",
    key: &["person"],
    label: |key| label(&key[0]),
};

fn label(person: &str) -> String {
    format!("class secret {person}")
}
