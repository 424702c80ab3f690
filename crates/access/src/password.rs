//! Passwords of people: argon2id (RFC 9106), kept in the PHC string format.

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use lyceum_core::random::secret_bytes;
use lyceum_core::{Problem, Result, message};
use subtle::ConstantTimeEq;

use crate::limits;

/// The cost of hashing: KiB of memory, and passes over it.
const COSTS: (u32, u32) =
    (limits::PASSWORD_HASH_MEMORY_BYTES / 1024, limits::PASSWORD_HASH_PASSES_COUNT);
/// The bytes of a hash.
const HASH_BYTES: usize = 32;

/// Refuses a password that is too short or too long; nothing else is asked of it.
pub fn check(password: &str) -> Result<()> {
    let length = limits::PASSWORD_MIN_CHARS..=limits::PASSWORD_MAX_CHARS;
    if length.contains(&password.chars().count()) {
        return Ok(());
    }
    let (min, max) = length.into_inner();
    Err(Problem::invalid("password", message!("must have {min} to {max} characters")))
}

/// The hash of a password under a new salt. Takes tens of milliseconds and [`limits::PASSWORD_HASH_MEMORY_BYTES`]
/// of memory, so it must not run in a transaction.
pub fn hash(password: &str) -> String {
    let (memory, passes) = COSTS;
    let salt = secret_bytes::<16>();
    let hash = derive(password, &salt, memory, passes).expect("our own costs are valid");
    let [salt, hash] = [&salt[..], &hash[..]].map(|bytes| BASE64_STANDARD_NO_PAD.encode(bytes));
    format!("$argon2id$v=19$m={memory},t={passes},p=1${salt}${hash}")
}

/// Whether the password has this hash. Without a hash it returns `false` after the same time, so that the time does not
/// show whether the account exists.
pub fn is_right(password: &str, stored: Option<&str>) -> bool {
    let Some((memory, passes, salt, stored)) = stored.and_then(parse) else {
        let (memory, passes) = COSTS;
        derive(password, &[0; 16], memory, passes);
        return false;
    };
    let hash = derive(password, &salt, memory, passes);
    hash.is_some_and(|hash| hash.as_slice().ct_eq(&stored).into())
}

/// The costs in KiB and passes, the salt and the hash.
fn parse(stored: &str) -> Option<(u32, u32, Vec<u8>, Vec<u8>)> {
    let costs = stored.strip_prefix("$argon2id$v=19$m=")?;
    let (memory, rest) = costs.split_once(",t=")?;
    let (passes, rest) = rest.split_once(",p=1$")?;
    let (salt, hash) = rest.split_once('$')?;
    let bytes = |text| BASE64_STANDARD_NO_PAD.decode(text).ok();
    Some((memory.parse().ok()?, passes.parse().ok()?, bytes(salt)?, bytes(hash)?))
}

fn derive(password: &str, salt: &[u8], memory: u32, passes: u32) -> Option<[u8; HASH_BYTES]> {
    let params = Params::new(memory, passes, 1, Some(HASH_BYTES)).ok()?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut hash = [0; HASH_BYTES];
    argon2.hash_password_into(password.as_bytes(), salt, &mut hash).ok()?;
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_matches_only_its_password_and_has_a_random_salt() {
        let (one, two) = (hash("correct horse"), hash("correct horse"));
        assert_ne!(one, two);
        assert!(is_right("correct horse", Some(&one)) && is_right("correct horse", Some(&two)));
        assert!(!is_right("correct horsf", Some(&one)) && !is_right("", None));
        assert!(!is_right("correct horse", Some("correct horse")));
    }

    #[test]
    fn a_hash_with_other_costs_can_be_verified() {
        let salt = BASE64_STANDARD_NO_PAD.encode(b"saltsaltsaltsalt");
        let cheap = derive("x", b"saltsaltsaltsalt", 64, 3).unwrap();
        let cheap = BASE64_STANDARD_NO_PAD.encode(cheap);
        assert!(is_right("x", Some(&format!("$argon2id$v=19$m=64,t=3,p=1${salt}${cheap}"))));
    }
}
