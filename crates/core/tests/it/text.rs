//! The form of ids.

use lyceum_core::text::{is_iri, is_uri, is_uuid};

#[test]
fn uuids_have_the_usual_form() {
    for uuid in ["c496e222-b8df-11e7-ba24-039ffdae3771", "C496E222-B8DF-11E7-BA24-039FFDAE3771"] {
        assert!(is_uuid(uuid), "{uuid}");
    }
    for other in [
        "",
        "c496e222b8df11e7ba24039ffdae3771",
        "{c496e222-b8df-11e7-ba24-039ffdae3771}",
        "urn:uuid:c496e222-b8df-11e7-ba24-039ffdae3771",
        "c496e222-b8df-11e7-ba24-039ffdae377g",
        "c496e222b-8df-11e7-ba24-039ffdae3771",
        "c496e222-b8df-11e7-ba24-039ffdae377",
    ] {
        assert!(!is_uuid(other), "{other}");
    }
}

#[test]
fn iris_have_a_scheme_and_uris_fewer_characters() {
    for both in ["https://example.org/a?b#c", "urn:uuid:1", "a+b-c.d:e", "mailto:zoë@example.org"]
    {
        assert!(is_iri(both) && is_uri(both), "{both}");
    }
    for iri in ["_:b0", "https://example.org/{id}", "x:a|b", "x:a\\b", "x:<a>"] {
        assert!(is_iri(iri) && !is_uri(iri), "{iri}");
    }
    for neither in ["", ":", "https:", "//example.org", "1a:b", "a_b:c", "x:a b", "x:a\n", " x:a"] {
        assert!(!is_iri(neither) && !is_uri(neither), "{neither}");
    }
}
