//! Items and stimuli as HTML: what is read from the store, and what an answer changes.

use lyceum_assessment::{Object, answered_html, candidate_html, item_page, repository};

use crate::{both, draft, item, now, plain_item};

const FEEDBACK: &str = "<qti-assessment-item xmlns='http://www.imsglobal.org/xsd/imsqtiasi_v3p0' identifier='i' \
    title='t' time-dependent='false'>\
    <qti-response-declaration identifier='RESPONSE' cardinality='single' base-type='identifier'>\
    <qti-correct-response><qti-value>B</qti-value></qti-correct-response></qti-response-declaration>\
    <qti-outcome-declaration identifier='SCORE' cardinality='single' base-type='float'/>\
    <qti-outcome-declaration identifier='TOLD' cardinality='single' base-type='identifier'/>\
    <qti-item-body><qti-choice-interaction response-identifier='RESPONSE' max-choices='1' shuffle='true'>\
    <qti-simple-choice identifier='A'>a</qti-simple-choice><qti-simple-choice identifier='B'>b</qti-simple-choice>\
    <qti-simple-choice identifier='C'>c</qti-simple-choice><qti-simple-choice identifier='D'>d</qti-simple-choice>\
    </qti-choice-interaction></qti-item-body>\
    <qti-response-processing><qti-set-outcome-value identifier='TOLD'><qti-variable identifier='RESPONSE'/>\
    </qti-set-outcome-value><qti-response-condition><qti-response-if><qti-match><qti-variable identifier='RESPONSE'/>\
    <qti-correct identifier='RESPONSE'/></qti-match><qti-set-outcome-value identifier='SCORE'>\
    <qti-base-value base-type='float'>1</qti-base-value></qti-set-outcome-value></qti-response-if>\
    </qti-response-condition></qti-response-processing>\
    <qti-modal-feedback outcome-identifier='TOLD' identifier='A' show-hide='show'><qti-content-body><p>No, b</p>\
    </qti-content-body></qti-modal-feedback></qti-assessment-item>";

/// The identifiers of the choices in their order.
fn choices(html: &str) -> Vec<&str> {
    html.split("<qti-simple-choice identifier=\"").skip(1).map(|part| &part[..1]).collect()
}

#[test]
fn an_answer_shows_its_feedback_and_keeps_the_order_of_choices() {
    let item = lyceum_qti::read_item(FEEDBACK).unwrap();
    let before = candidate_html(FEEDBACK, 5, &|_| None).unwrap();
    assert!(!before.contains("No, b"), "{before}");
    for (response, score, is_shown) in [("A", 0.0, true), ("B", 1.0, false)] {
        let responses = Object::from_iter([("RESPONSE".to_owned(), response.into())]);
        let shown = answered_html((&item, FEEDBACK), &responses, 5, &|_| None);
        let (scored, html) = shown.unwrap();
        assert!((scored.score - score).abs() < 1e-9, "{response}: {}", scored.score);
        assert_eq!(html.contains("No, b"), is_shown, "{html}");
        assert_eq!(choices(&html), choices(&before), "{html}");
    }
    let orders: Vec<String> =
        (0..9).map(|seed| candidate_html(FEEDBACK, seed, &|_| None).unwrap()).collect();
    assert!(
        orders.iter().any(|html| choices(html) != choices(&before)),
        "no seed changes the order"
    );
}

#[test]
fn a_page_has_the_stimulus_of_its_item() {
    both(|db| {
        for document in [draft("s", "text"), item("i", "s"), plain_item("j")] {
            db.write_blocking(|tx| repository::create(tx, now(), &document)).unwrap();
        }
        let page = |id: &str| db.read_blocking(|tx| item_page(tx, id)).unwrap();
        assert_eq!(page("j").stimuli, []);
        let found = page("i");
        assert_eq!(found.item.identifier, "i");
        let [stimulus] = found.stimuli.as_slice() else { panic!("{found:?}") };
        assert_eq!(stimulus.0.identifier, "s");
        let html = lyceum_assessment::stimulus_html(&stimulus.0.xml, &|_| None).unwrap();
        assert!(html.contains("<qti-stimulus-body><p>text</p></qti-stimulus-body>"), "{html}");
    });
}
