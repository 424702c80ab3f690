//! Two sides measured in turn, so that a slow minute of the machine slows both.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::load::Sample;

/// The median of several figures with the least and the greatest.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Spread {
    /// The middle one.
    pub(crate) median: f64,
    /// The least.
    pub(crate) low: f64,
    /// The greatest.
    pub(crate) high: f64,
}

impl Spread {
    /// The spread of at least one figure.
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        Self { median: sorted[sorted.len() / 2], low: sorted[0], high: sorted[sorted.len() - 1] }
    }
}

impl From<f64> for Spread {
    fn from(figure: f64) -> Self {
        Self { median: figure, low: figure, high: figure }
    }
}

/// Samples of two sides, taken A B A B A B.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Pairs {
    /// The samples of Lyceum.
    pub(crate) ours: Vec<Sample>,
    /// The samples of the side that Lyceum is compared with.
    pub(crate) other: Vec<Sample>,
}

impl Pairs {
    /// Measures both sides `rounds` times in turn.
    pub(crate) fn measure(
        rounds: usize,
        mut other: impl FnMut() -> Result<Sample>,
        mut ours: impl FnMut() -> Result<Sample>,
    ) -> Result<Self> {
        let mut pairs = Self { ours: Vec::new(), other: Vec::new() };
        for _ in 0..rounds {
            pairs.other.push(other()?);
            pairs.ours.push(ours()?);
        }
        Ok(pairs)
    }

    /// Lyceum divided by the other side, pair by pair.
    pub(crate) fn ratio(&self, figure: impl Fn(&Sample) -> f64) -> Spread {
        let pairs = self.ours.iter().zip(&self.other);
        Spread::of(pairs.map(|(ours, other)| figure(ours) / figure(other)))
    }

    /// The figure of Lyceum.
    pub(crate) fn ours(&self, figure: impl Fn(&Sample) -> f64) -> Spread {
        Spread::of(self.ours.iter().map(figure))
    }

    /// The figure of the other side.
    pub(crate) fn other(&self, figure: impl Fn(&Sample) -> f64) -> Spread {
        Spread::of(self.other.iter().map(figure))
    }
}
