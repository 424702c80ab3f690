//! Randomness, injected: the same seed gives the same stream on every machine and release.

/// A seeded random stream for everything that must replay. Not for secrets.
#[derive(Clone, Debug)]
pub struct Stream(fastrand::Rng);

impl Stream {
    /// The stream of a seed.
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

    /// One of the choices. There is at least one.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.0.usize(0..choices.len())]
    }
}
