//! Random bytes of the operating system for secrets, and seeded random numbers: the same seed gives the same numbers on
//! every machine and in every release.

use rand::TryRng;
use rand::rngs::SysRng;

use crate::text::hex;

/// Random bytes of the operating system, for keys, salts and ids that cannot be guessed.
pub fn secret_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// An id of 128 random bits that cannot be guessed, in 32 hexadecimal digits.
pub fn secret_id() -> String {
    hex(secret_bytes::<16>())
}

/// A stream of random numbers for everything that must be reproducible. Not for secrets.
#[derive(Clone, Debug)]
pub struct RandomStream(fastrand::Rng);

impl RandomStream {
    /// Starts the stream of a seed.
    pub fn seeded(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// A whole number in `0..bound`. `bound` is above zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.u64(0..bound)
    }

    /// A number in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        self.0.f64()
    }

    /// Picks one of the choices. Panics without choices.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.0.usize(0..choices.len())]
    }
}
