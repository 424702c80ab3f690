//! Choices in the order of a seed (`shuffle="true"`).

use lyceum_core::random::RandomStream;

use crate::candidate::shows_template;
use crate::model::Item;
use crate::read::boolean;
use crate::score::Variant;
use crate::value::Value;
use crate::xml::{Document, Element};

/// The elements that interactions shuffle.
const CHOICES: [&str; 5] = [
    "qti-gap-img",
    "qti-gap-text",
    "qti-inline-choice",
    "qti-simple-associable-choice",
    "qti-simple-choice",
];

/// The maximum number of draws. If each drawn order was the correct answer, the last one is rotated by one place.
const MAX_DRAWS: usize = 32;

/// The children at `places`, in the order in which they are shown.
struct ShuffledOrder {
    parent: u32,
    places: Vec<u32>,
    shown: Vec<u32>,
}

/// Puts the choices of every interaction that shuffles into the order of the seed. Fixed choices keep
/// their places. Each list of choices has a stream of its own, so that an edit of one interaction
/// leaves the order of the others as it was.
pub(crate) fn shuffle(
    document: &mut Document<'_>,
    item: &Item,
    variant: Option<&Variant>,
    seed: u64,
) {
    let mut orders = Vec::new();
    for interaction in document.root().descendants().filter(|e| is_shuffled(*e)) {
        let response = interaction.attribute("response-identifier").unwrap_or_default().trim();
        let lists: Vec<Element<'_>> = match interaction.is("qti-match-interaction") {
            true => interaction.all("qti-simple-match-set").collect(),
            false => vec![interaction],
        };
        let is_order = interaction.is("qti-order-interaction");
        for (number, list) in lists.into_iter().enumerate() {
            let choices: Vec<Element<'_>> = list
                .elements()
                .filter(|choice| CHOICES.iter().any(|name| choice.is(name)))
                .filter(|choice| shows_template(*choice, item, variant))
                .collect();
            let mut random = stream(seed, &[&item.identifier, response, &number.to_string()]);
            // Without a declared answer, the order that the author wrote may be it.
            let authored = || choices.iter().map(|choice| name(*choice)).collect();
            let hidden = is_order.then(|| answer(item, variant, response).unwrap_or_else(authored));
            orders.push(order(list, &choices, hidden.as_deref(), &mut random));
        }
    }
    for ShuffledOrder { parent, places, shown } in orders {
        document.put_children(parent, &places, &shown);
    }
}

fn is_shuffled(element: Element<'_>) -> bool {
    element.name().starts_with("qti-")
        && element.name().ends_with("-interaction")
        && boolean(element, "shuffle") == Some(true)
}

fn name(choice: Element<'_>) -> String {
    choice.attribute("identifier").unwrap_or_default().trim().to_owned()
}

/// The identifiers of the correct response; `None` if it declares none.
fn answer(item: &Item, variant: Option<&Variant>, response: &str) -> Option<Vec<String>> {
    let of_variant = variant.and_then(|variant| variant.correct(response));
    let correct = of_variant.or_else(|| item.response(response).map(|own| &own.correct))?;
    let names: Vec<String> = match correct {
        Value::Null => Vec::new(),
        correct => correct.scalars().iter().map(ToString::to_string).collect(),
    };
    (!names.is_empty()).then_some(names)
}

/// Draws the order of a list. One that begins with the identifiers of `hidden` is not shown, unless
/// there is no other.
fn order(
    list: Element<'_>,
    choices: &[Element<'_>],
    hidden: Option<&[String]>,
    random: &mut RandomStream,
) -> ShuffledOrder {
    let movable: Vec<usize> =
        (0..choices.len()).filter(|at| boolean(choices[*at], "fixed") != Some(true)).collect();
    let names: Vec<String> = choices.iter().map(|choice| name(*choice)).collect();
    let mut drawn = movable.clone();
    let shows_hidden_order = |drawn: &[usize]| {
        let mut shown: Vec<&str> = names.iter().map(String::as_str).collect();
        for (place, from) in movable.iter().zip(drawn) {
            shown[*place] = &names[*from];
        }
        hidden.is_some_and(|hidden| {
            shown.len() >= hidden.len() && shown.iter().zip(hidden).all(|(a, b)| a == b)
        })
    };
    for _ in 0..MAX_DRAWS {
        permute(&mut drawn, random);
        if !shows_hidden_order(&drawn) {
            break;
        }
    }
    if drawn.len() > 1 && shows_hidden_order(&drawn) {
        drawn.rotate_left(1);
    }
    let index = |at: &usize| choices[*at].index();
    ShuffledOrder {
        parent: list.index(),
        places: movable.iter().map(index).collect(),
        shown: drawn.iter().map(index).collect(),
    }
}

/// Puts members into a random order; every order is as likely as every other.
pub(crate) fn permute<T>(members: &mut [T], random: &mut RandomStream) {
    for at in (1..members.len()).rev() {
        let other = random.below(at as u64 + 1);
        members.swap(at, usize::try_from(other).expect("it is not above a length"));
    }
}

/// A stream for something with a name. Streams of different names are independent: what one draws
/// does not shift the others.
pub(crate) fn stream(seed: u64, names: &[&str]) -> RandomStream {
    // FNV-1a over the seed and the names, each with an end of its own.
    let bytes = names.iter().flat_map(|name| name.bytes().chain([0]));
    let hash = seed
        .to_le_bytes()
        .into_iter()
        .chain(bytes)
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    RandomStream::seeded(hash)
}
