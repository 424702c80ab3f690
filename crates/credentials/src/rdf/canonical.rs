//! RDFC-1.0: blank nodes get names that follow from what is said of them alone. The numbers of
//! steps below are those of the recommendation's section 4.

use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

use lyceum_core::message;
use lyceum_core::problem::{Problem, ProblemKind, Result};
use sha2::Digest;

use super::{Dataset, GraphTerm, Quad};
use crate::limits::CANONIZE_MAX_COUNT;

/// A hash as hexadecimal digits: 64 of SHA-256, 96 of SHA-384. Hashes of one run are equally long.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hash {
    digits: [u8; 96],
    length: usize,
}

impl AsRef<[u8]> for Hash {
    fn as_ref(&self) -> &[u8] {
        &self.digits[..self.length]
    }
}

/// The state of one run (4.2).
pub(super) struct Canonical<'a, D> {
    dataset: &'a Dataset,
    /// The quads that mention a blank node.
    mentions: Vec<Vec<u32>>,
    first: Vec<Hash>,
    issued: Issuer,
    steps: usize,
    digest: PhantomData<D>,
}

/// Gives numbers to blank nodes in the order in which they ask (4.5).
#[derive(Clone, Default)]
struct Issuer {
    numbers: HashMap<u32, usize>,
    order: Vec<u32>,
}

impl Issuer {
    fn issue(&mut self, blank: u32) -> usize {
        *self.numbers.entry(blank).or_insert_with(|| {
            self.order.push(blank);
            self.order.len() - 1
        })
    }
}

impl<'a, D: Digest> Canonical<'a, D> {
    /// Gives the blank nodes of the dataset their names (4.4.3).
    pub(super) fn of(dataset: &'a Dataset) -> Result<Self> {
        let mut mentions = vec![Vec::new(); dataset.blanks as usize];
        for (index, quad) in (0u32..).zip(&dataset.quads) {
            for (_, blank) in blanks(quad) {
                let of: &mut Vec<u32> = &mut mentions[blank as usize];
                if of.last() != Some(&index) {
                    of.push(index);
                }
            }
        }
        let issued = Issuer::default();
        let digest = PhantomData;
        let mut run = Self { dataset, mentions, first: Vec::new(), issued, steps: 0, digest };
        run.first = (0..dataset.blanks).map(|blank| run.hash_first_degree(blank)).collect();
        run.name_all()?;
        Ok(run)
    }

    /// How many blank nodes have a name; their numbers begin with 0.
    pub(super) fn count(&self) -> usize {
        self.issued.order.len()
    }

    /// Each quad as a line with those names for the blank nodes, by their numbers, in the order of the lines.
    pub(super) fn lines(&self, names: &[String]) -> Vec<(String, &'a Quad)> {
        let mut label = |blank: u32, out: &mut String| {
            out.push_str("_:");
            out.push_str(&names[self.issued.numbers[&blank]]);
        };
        let quads = self.dataset.quads.iter();
        let mut lines: Vec<(String, &Quad)> = quads
            .map(|quad| {
                let mut line = String::new();
                self.dataset.line(quad, &mut label, &mut line);
                (line, quad)
            })
            .collect();
        lines.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        lines
    }

    fn name_all(&mut self) -> Result<()> {
        let mut alike: BTreeMap<Hash, Vec<u32>> = BTreeMap::new();
        for (blank, hash) in (0u32..).zip(&self.first) {
            if !self.mentions[blank as usize].is_empty() {
                alike.entry(*hash).or_default().push(blank);
            }
        }
        for blanks in alike.values() {
            if let [only] = blanks[..] {
                self.issued.issue(only);
            }
        }
        for blanks in alike.into_values().filter(|blanks| blanks.len() > 1) {
            let mut paths = Vec::new();
            for blank in blanks {
                if !self.issued.numbers.contains_key(&blank) {
                    let mut issuer = Issuer::default();
                    issuer.issue(blank);
                    paths.push(self.hash_n_degree(blank, issuer)?);
                }
            }
            paths.sort_by_key(|path| path.0);
            for blank in paths.into_iter().flat_map(|(_, issuer)| issuer.order) {
                self.issued.issue(blank);
            }
        }
        Ok(())
    }

    /// The canonical N-Quads.
    pub(super) fn write(&self) -> String {
        let mut label = |blank: u32, out: &mut String| {
            out.push_str("_:c14n");
            out.push_str(&self.issued.numbers[&blank].to_string());
        };
        let mut all = String::with_capacity(self.dataset.text.len() * 2);
        let mut places = Vec::with_capacity(self.dataset.quads.len());
        for quad in &self.dataset.quads {
            let start = all.len();
            self.dataset.line(quad, &mut label, &mut all);
            places.push(start..all.len());
        }
        places.sort_unstable_by(|a, b| all[a.clone()].cmp(&all[b.clone()]));
        places.into_iter().map(|place| &all[place]).collect()
    }

    /// 4.6.3
    fn hash_first_degree(&self, blank: u32) -> Hash {
        let mut label = |number: u32, out: &mut String| {
            out.push_str(if number == blank { "_:a" } else { "_:z" });
        };
        let quads = self.mentions[blank as usize].iter();
        let mut lines: Vec<String> = quads
            .map(|index| {
                let mut line = String::new();
                self.dataset.line(&self.dataset.quads[*index as usize], &mut label, &mut line);
                line
            })
            .collect();
        lines.sort_unstable();
        let mut hash = D::new();
        for line in lines {
            hash.update(line);
        }
        hex(hash)
    }

    /// 4.7.3
    fn hash_related(&self, related: u32, quad: &Quad, issuer: &Issuer, position: u8) -> Hash {
        let mut hash = D::new();
        hash.update([position]);
        if position != b'g' {
            hash.update(self.dataset.text(quad.predicate));
        }
        match self.name(related, issuer) {
            Some(name) => hash.update(name),
            None => hash.update(self.first[related as usize]),
        }
        hex(hash)
    }

    fn name(&self, blank: u32, issuer: &Issuer) -> Option<String> {
        match (self.issued.numbers.get(&blank), issuer.numbers.get(&blank)) {
            (Some(number), _) => Some(format!("_:c14n{number}")),
            (None, Some(number)) => Some(temporary(*number)),
            (None, None) => None,
        }
    }

    /// 4.8.3
    fn hash_n_degree(&mut self, blank: u32, mut issuer: Issuer) -> Result<(Hash, Issuer)> {
        self.step()?;
        let mut hash = D::new();
        for (related_hash, related) in self.related(blank, &issuer)? {
            hash.update(related_hash);
            let (path, chosen) = self.shortest_path(related, &issuer)?;
            hash.update(path);
            issuer = chosen;
        }
        Ok((hex(hash), issuer))
    }

    /// 4.8.3, step 3
    fn related(&mut self, blank: u32, issuer: &Issuer) -> Result<BTreeMap<Hash, Vec<u32>>> {
        let mut related: BTreeMap<Hash, Vec<u32>> = BTreeMap::new();
        for at in 0..self.mentions[blank as usize].len() {
            let quad = self.dataset.quads[self.mentions[blank as usize][at] as usize];
            for (position, other) in blanks(&quad).filter(|(_, other)| *other != blank) {
                self.step()?;
                let hash = self.hash_related(other, &quad, issuer, position);
                related.entry(hash).or_default().push(other);
            }
        }
        Ok(related)
    }

    /// 4.8.3, step 5.4: the least of the paths over all orders of the blank nodes.
    fn shortest_path(&mut self, mut order: Vec<u32>, issuer: &Issuer) -> Result<(String, Issuer)> {
        order.sort_unstable();
        let mut chosen: Option<(String, Issuer)> = None;
        loop {
            self.step()?;
            let best = chosen.as_ref().map(|(path, _)| path.as_str());
            if let Some(found) = self.path(&order, issuer.clone(), best)? {
                chosen = Some(found);
            }
            if !next_permutation(&mut order) {
                return Ok(chosen.expect("the first order has nothing that is better"));
            }
        }
    }

    /// The path of one order; `None` if it sorts after the best path so far.
    fn path(
        &mut self,
        order: &[u32],
        mut issuer: Issuer,
        best: Option<&str>,
    ) -> Result<Option<(String, Issuer)>> {
        let worse = |path: &str| best.is_some_and(|best| path.len() >= best.len() && path > best);
        let mut path = String::new();
        let mut recursion = Vec::new();
        for related in order {
            if let Some(name) = self.name(*related, &issuer) {
                path.push_str(&name);
            } else {
                recursion.push(*related);
                path.push_str(&temporary(issuer.issue(*related)));
            }
            if worse(&path) {
                return Ok(None);
            }
        }
        for related in recursion {
            let (hash, after) = self.hash_n_degree(related, issuer.clone())?;
            path.push_str(&temporary(issuer.issue(related)));
            path.push('<');
            path.push_str(std::str::from_utf8(hash.as_ref()).expect("hex is ASCII"));
            path.push('>');
            issuer = after;
            if worse(&path) {
                return Ok(None);
            }
        }
        Ok(best.is_none_or(|best| path.as_str() < best).then_some((path, issuer)))
    }

    fn step(&mut self) -> Result<()> {
        self.steps += 1;
        match self.steps <= CANONIZE_MAX_COUNT {
            true => Ok(()),
            false => Err(Problem::new(
                ProblemKind::Invalid,
                message!(
                    "the document has so many nodes without an id that are alike that telling \
                     them apart takes more than {CANONIZE_MAX_COUNT} steps; give them ids"
                ),
            )),
        }
    }
}

/// The blank nodes of a quad with their positions: `s`, `o`, `g`.
fn blanks(quad: &Quad) -> impl Iterator<Item = (u8, u32)> {
    let parts = [(b's', Some(quad.subject)), (b'o', Some(quad.object)), (b'g', quad.graph)];
    parts.into_iter().filter_map(|(position, node)| match node {
        Some(GraphTerm::Blank(number)) => Some((position, number)),
        _ => None,
    })
}

fn temporary(number: usize) -> String {
    format!("_:b{number}")
}

/// The hash in hexadecimal digits.
pub(crate) fn hex(hash: impl Digest) -> Hash {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let bytes = hash.finalize();
    let mut digits = [0; 96];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes.iter()) {
        pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    Hash { digits, length: 2 * bytes.len() }
}

/// The next order after this one; false if this was the last.
fn next_permutation(order: &mut [u32]) -> bool {
    let Some(pivot) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let next = order.iter().rposition(|one| *one > order[pivot]).expect("the one after it is");
    order.swap(pivot, next);
    order[pivot + 1..].reverse();
    true
}
