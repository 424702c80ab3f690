//! Names of many cultures, put together at random; nobody in particular is meant.

use std::sync::LazyLock;

use lyceum_core::random::RandomStream;
use lyceum_core::text::folded;

/// Towns for districts, schools and births.
pub(crate) static TOWNS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("../data/towns.txt").lines().collect());

/// Four lines for each: its share and race, its family names, the names of girls, those of boys.
static CULTURES: LazyLock<Vec<Culture>> = LazyLock::new(|| {
    let blocks = include_str!("../data/names.txt").split("\n\n");
    blocks.map(|block| Culture::parse(block).expect("a culture has four lines")).collect()
});

/// Family and given names that go together, and the race and ethnicity that their bearers most
/// often state in the demographics of a North American school.
pub(crate) struct Culture {
    /// Of 100 families, how many.
    share: u64,
    /// The race or ethnicity, as the columns of the demographics call it.
    pub(crate) race: &'static str,
    family: Vec<&'static str>,
    girls: Vec<&'static str>,
    boys: Vec<&'static str>,
}

impl Culture {
    fn parse(block: &'static str) -> Option<Self> {
        let mut lines = block.lines();
        let (share, race) = lines.next()?.split_once(' ')?;
        let share = share.parse().ok()?;
        let mut names = || Some(lines.next()?.split(' ').collect());
        Some(Self { share, race, family: names()?, girls: names()?, boys: names()? })
    }

    pub(crate) fn of(stream: &mut RandomStream) -> &'static Self {
        let mut place = stream.below(100);
        CULTURES
            .iter()
            .find(|culture| {
                let is_culture = place < culture.share;
                place = place.saturating_sub(culture.share);
                is_culture
            })
            .expect("the shares add up to 100")
    }

    pub(crate) fn family(&self, stream: &mut RandomStream) -> &'static str {
        stream.pick::<&str>(&self.family)
    }

    pub(crate) fn given(&self, girl: bool, stream: &mut RandomStream) -> &'static str {
        stream.pick::<&str>(if girl { &self.girls } else { &self.boys })
    }
}

/// A name as the local part of an e-mail address: ASCII letters in lower case.
pub(crate) fn plain(name: &str) -> String {
    let letters = folded(name);
    let letters = letters.chars().map(|letter| match letter {
        'đ' => 'd',
        'ı' => 'i',
        'ł' => 'l',
        'ø' => 'o',
        letter => letter,
    });
    letters.filter(char::is_ascii_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_names_have_plain_forms() {
        assert_eq!(CULTURES.iter().map(|culture| culture.share).sum::<u64>(), 100);
        for culture in CULTURES.iter() {
            for name in culture.family.iter().chain(&culture.girls).chain(&culture.boys) {
                let letters = name.chars().filter(|c| c.is_alphabetic()).count();
                assert_eq!(plain(name).len(), letters, "{name} loses letters");
            }
        }
    }
}
