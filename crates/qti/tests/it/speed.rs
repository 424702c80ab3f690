//! The cost of reading, in terms of the tokenizer alone.

use std::hint::black_box;
use std::time::{Duration, Instant};

use lyceum_core::random::RandomStream;
use lyceum_qti::{Responses, ScoringInput, read_item, score};
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::json;

const ITEM: &str = include_str!("choice.xml");

/// The shortest of many runs, so that other programs on the machine count little.
fn shortest(mut run: impl FnMut()) -> Duration {
    let time = |run: &mut dyn FnMut()| {
        let began = Instant::now();
        run();
        began.elapsed()
    };
    (0..300).map(|_| time(&mut run)).min().unwrap()
}

fn scan() {
    let mut reader = Reader::from_str(ITEM);
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) | Event::Empty(tag) => {
                tag.attributes().for_each(|attribute| drop(black_box(attribute.unwrap())));
            }
            Event::Eof => return,
            other => drop(black_box(other)),
        }
    }
}

#[test]
#[ignore = "rest"]
fn reading_an_item_costs_little_more_than_its_tokens() {
    let tokens = shortest(scan);
    let read = shortest(|| drop(black_box(read_item(ITEM).unwrap())));
    let item = read_item(ITEM).unwrap();
    let json = json!({"RESPONSE": ["A", "C"]});
    let scored = shortest(|| {
        let responses = Responses::from_json(&item, json.as_object().unwrap()).unwrap();
        drop(black_box(score(
            &item,
            &responses,
            ScoringInput::default(),
            &mut RandomStream::seeded(1),
        )));
    });
    let ratio = read.as_secs_f64() / tokens.as_secs_f64();
    println!("tokens {tokens:?}, read {read:?} ({ratio:.1} times), scored {scored:?}");
    // Goal Q1 is 10 times in a release build.
    assert!(ratio < 25.0, "{ratio}");
}
