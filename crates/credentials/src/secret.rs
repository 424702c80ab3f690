//! Random bytes of the operating system, for keys, salts and ids that nobody can guess.

use rand::TryRng;
use rand::rngs::SysRng;

pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// An id of 128 random bits in 32 hexadecimal digits.
pub(crate) fn random_id() -> String {
    hex(&random::<16>())
}

/// The bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
