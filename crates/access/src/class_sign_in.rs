//! Sign-in in class, for students who have no password: a teacher opens a class for some minutes, and students enter its
//! code, choose their names and prove themselves with the secret on their cards.
//!
//! This crate does not know the roster: the callers check that a student is in the class.

use lyceum_core::config::Environment;
use lyceum_core::random::secret_bytes;
use lyceum_core::time::Timestamp;
use lyceum_core::{Problem, Result, message};
use lyceum_store::Tx;

use crate::caller_place::CallerPlace;
use crate::class_secret::{ClassAnswer, open_secret};
use crate::guess::{self, GuessedAccount};
use crate::limits;
use crate::master::MasterKey;
use crate::person::Person;
use crate::repository::{class_sign_ins as repository, guesses, sessions};
use crate::{secret, session};

pub use crate::repository::class_sign_ins::OpenClass;

/// The letters of codes: no vowels, so that no words arise, and none that look or sound like another.
const LETTERS: &[u8; 16] = b"BCDFGHJKLMPRTWXZ";
/// The letters of a code: 16⁶ codes.
const CODE_LETTERS: usize = 6;

impl OpenClass {
    /// The code as it is shown, such as `BCD-FGH`.
    pub fn shown_code(&self) -> String {
        let (first, last) = self.code.split_at(CODE_LETTERS / 2);
        format!("{first}-{last}")
    }
}

/// Opens a class for so many minutes, or sets when the open class closes: its code stays. Wrong answers in the class no
/// longer count, so a teacher helps a class that used up its tries.
/// Errors: `Invalid` for other minutes than 1 to [`limits::CLASS_SIGN_IN_MAX_MIN`].
pub fn open(
    tx: &mut Tx<'_>,
    now: Timestamp,
    class: &str,
    by: &Person,
    minutes: i64,
) -> Result<OpenClass> {
    if !(1..=limits::CLASS_SIGN_IN_MAX_MIN).contains(&minutes) {
        let rule = message!("must be 1 to {n} minutes", n = limits::CLASS_SIGN_IN_MAX_MIN);
        return Err(Problem::invalid("minutes", rule));
    }
    repository::delete_closed(tx, now)?;
    guesses::delete(tx, &secret::hash(&class_tries(class)))?;
    let known = find(tx, now, class)?;
    let mut open = OpenClass {
        class: class.to_owned(),
        code: known.map_or_else(new_code, |known| known.code),
        opened_by: by.id.clone(),
        opened: now,
        closes: now.plus_seconds(minutes * 60),
    };
    while !repository::upsert(tx, &open)? {
        open.code = new_code();
    }
    Ok(open)
}

/// The class if it is open.
pub fn find(tx: &mut Tx<'_>, now: Timestamp, class: &str) -> Result<Option<OpenClass>> {
    Ok(repository::find(tx, class)?.filter(|open| now < open.closes))
}

/// The open class of a code; `typed` may have any case, spaces and hyphens.
pub fn of_code(tx: &mut Tx<'_>, now: Timestamp, typed: &str) -> Result<Option<OpenClass>> {
    let letters = typed.chars().filter(char::is_ascii_alphanumeric);
    let code = letters.collect::<String>().to_ascii_uppercase();
    Ok(repository::of_code(tx, &code)?.filter(|open| now < open.closes))
}

/// As [`of_code`], for a code that a student typed: wrong ones are counted by place. Errors: too many were wrong.
pub fn enter_code(
    tx: &mut Tx<'_>,
    now: Timestamp,
    typed: &str,
    place: &CallerPlace,
) -> Result<Option<OpenClass>> {
    let tries = [guess::from_place("class codes", place, limits::GUESSES_CLASS_CODE_COUNT)];
    guess::count(tx, now, &tries)?;
    let found = of_code(tx, now, typed)?;
    if found.is_some() {
        guess::take_back(tx, &tries)?;
    }
    Ok(found)
}

/// Closes a class: its code stops, and the sessions that began with it end.
pub fn close(tx: &mut Tx<'_>, class: &str) -> Result<()> {
    repository::delete(tx, class)?;
    sessions::delete_all_of_class(tx, class)
}

/// Signs a student of the class in and answers the secret of the session; `None` if the answer is wrong.
/// `former` is the secret of a session that the same browser had.
///
/// Errors: too many wrong answers for the student, in the class or from the place.
pub fn sign_in(
    tx: &mut Tx<'_>,
    (now, environment): (Timestamp, Environment),
    master: &MasterKey,
    open: &OpenClass,
    student: &Person,
    (answer, place): (&ClassAnswer, &CallerPlace),
    former: Option<&str>,
) -> Result<Option<String>> {
    let tries = tries(open, student, place);
    guess::count(tx, now, &tries)?;
    let secret = open_secret(tx, master, &student.id)?;
    if !secret.is_some_and(|secret| secret.is_answered_by(answer)) {
        return Ok(None);
    }
    guess::take_back(tx, &tries)?;
    session::start_in_class(tx, now, environment, student, &open.class, former).map(Some)
}

fn tries(open: &OpenClass, student: &Person, place: &CallerPlace) -> Vec<GuessedAccount> {
    vec![
        (student_tries(&student.id), limits::GUESSES_CLASS_STUDENT_COUNT),
        (class_tries(&open.class), limits::GUESSES_CLASS_COUNT),
        guess::from_place("class sign-ins", place, limits::GUESSES_CLASS_ADDRESS_COUNT),
    ]
}

/// The name under which wrong answers for a student are counted.
pub(crate) fn student_tries(person: &str) -> String {
    format!("class sign-in of {person}")
}

/// The name under which wrong answers in a class are counted.
fn class_tries(class: &str) -> String {
    format!("class {class}")
}

fn new_code() -> String {
    let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
    secret_bytes::<CODE_LETTERS>().into_iter().map(letter).collect()
}
