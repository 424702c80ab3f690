//! Random bytes of the operating system, for keys, salts and ids that cannot be guessed.

use lyceum_core::text::hex;
use rand::TryRng;
use rand::rngs::SysRng;

pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// An id of 128 random bits in 32 hexadecimal digits.
pub(crate) fn random_id() -> String {
    hex(random::<16>())
}
