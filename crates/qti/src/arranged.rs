//! Selects and orders the items of a test for one candidate.

use lyceum_core::random::RandomStream;

use crate::limits::QTI_MAX_NODES;
use crate::model::{Section, SectionMember, Selection, Test};
use crate::shuffle::{permute, stream};

/// The items of a test in the order in which a candidate meets them, as places in
/// [`Test::item_refs`]. The sections' `qti-selection` and `qti-ordering` are applied: a member that is
/// not selected is missing, one that is drawn twice (`with-replacement`) stands twice. The same test
/// and seed give the same. Preconditions, branch rules and engines of adaptive sections depend on
/// answers and are not applied.
pub fn arranged(test: &Test, seed: u64) -> Vec<usize> {
    let mut draws = DrawBudget { left: QTI_MAX_NODES };
    let (mut arranged, mut place) = (Vec::new(), 0);
    for member in test.parts.iter().flat_map(|part| &part.sections) {
        if let SectionMember::Section(section) = member {
            let units = draws.units(section, place, seed);
            arranged.extend(units.into_iter().flat_map(|unit| unit.items));
        }
        place += count(member);
    }
    arranged
}

/// The items of a member.
fn count(member: &SectionMember) -> usize {
    match member {
        SectionMember::Item(_) => 1,
        SectionMember::Section(section) => section.members.iter().map(count).sum(),
        SectionMember::SectionRef(_) => 0,
    }
}

/// A unit of shuffling: an item, or the items of an inner section that stay together.
#[derive(Clone, Default)]
struct ShuffleUnit {
    items: Vec<usize>,
    is_fixed: bool,
}

/// Members that may still be drawn: sections in sections that draw with replacement multiply.
struct DrawBudget {
    left: usize,
}

impl DrawBudget {
    /// The units of a section, selected and ordered. `place` is that of its first item.
    fn units(&mut self, section: &Section, place: usize, seed: u64) -> Vec<ShuffleUnit> {
        let mut random = stream(seed, &[&section.identifier]);
        let mut places = Vec::with_capacity(section.members.len());
        let mut next = place;
        for member in &section.members {
            places.push(next);
            next += count(member);
        }
        let mut units = Vec::new();
        for (at, repetition) in selected(section, &mut random) {
            let Some(left) = self.left.checked_sub(1) else { break };
            self.left = left;
            // A section that is drawn again selects and shuffles its members again.
            let seed = seed.wrapping_add(repetition.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            match &section.members[at] {
                SectionMember::Item(item) => {
                    units.push(ShuffleUnit { items: vec![places[at]], is_fixed: item.fixed });
                }
                SectionMember::Section(inner) => {
                    let inner_units = self.units(inner, places[at], seed);
                    // The members of such a section are mixed with those of the one around it.
                    if !inner.visible && !inner.keep_together && !inner.fixed {
                        units.extend(inner_units);
                    } else {
                        let items = inner_units.into_iter().flat_map(|unit| unit.items).collect();
                        units.push(ShuffleUnit { items, is_fixed: inner.fixed });
                    }
                }
                SectionMember::SectionRef(_) => {}
            }
        }
        if section.ordering.is_some_and(|ordering| ordering.shuffle) {
            shuffle(&mut units, &mut random);
        }
        units
    }
}

/// The members that are selected, in the order of the text, each with how often it was taken before.
/// Required members are always among them.
fn selected(section: &Section, random: &mut RandomStream) -> Vec<(usize, u64)> {
    let all = 0..section.members.len();
    let Some(Selection { select, with_replacement }) = section.selection else {
        return all.map(|at| (at, 0)).collect();
    };
    let select = usize::try_from(select).unwrap_or(usize::MAX).min(QTI_MAX_NODES);
    let is_required = |at: &usize| match &section.members[*at] {
        SectionMember::Item(item) => item.required,
        SectionMember::Section(section) => section.required,
        SectionMember::SectionRef(_) => false,
    };
    let mut chosen: Vec<usize> = all.clone().filter(is_required).collect();
    if with_replacement && !all.is_empty() {
        while chosen.len() < select {
            let drawn = random.below(all.len() as u64);
            chosen.push(usize::try_from(drawn).expect("it is below a length"));
        }
    } else {
        let mut rest: Vec<usize> = all.filter(|at| !is_required(at)).collect();
        permute(&mut rest, random);
        rest.truncate(select.saturating_sub(chosen.len()));
        chosen.extend(rest);
    }
    chosen.sort_unstable();
    let mut last = (usize::MAX, 0);
    let repetition = |at: usize| {
        last = if last.0 == at { (at, last.1 + 1) } else { (at, 0) };
        last
    };
    chosen.into_iter().map(repetition).collect()
}

/// Shuffles the units that are not fixed. Fixed units keep the places that selection gave them.
fn shuffle(units: &mut [ShuffleUnit], random: &mut RandomStream) {
    let places: Vec<usize> = (0..units.len()).filter(|at| !units[*at].is_fixed).collect();
    let mut shown: Vec<ShuffleUnit> =
        places.iter().map(|at| std::mem::take(&mut units[*at])).collect();
    permute(&mut shown, random);
    for (at, unit) in places.into_iter().zip(shown) {
        units[at] = unit;
    }
}
