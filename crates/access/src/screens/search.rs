//! Search: accounts by the words of their names and e-mail addresses.

use std::collections::BTreeSet;

use lyceum_core::Result;
use lyceum_core::text::is_named;
use lyceum_store::Tx;

use crate::person::Person;
use crate::repository::people;

/// The accounts of everybody but students, by name, at most `most`: a student is found as a user of the roster. `words`
/// are those of [`lyceum_core::text::name_words`].
pub fn staff(tx: &mut Tx<'_>, words: &BTreeSet<String>, most: usize) -> Result<Vec<Person>> {
    let fits =
        |person: &Person| is_named(&format!("{} {}", person.name, person.account_name()), words);
    Ok(people::staff(tx)?.into_iter().filter(fits).take(most).collect())
}
