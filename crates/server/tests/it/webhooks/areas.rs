//! The topics: every kind of record has its topics, and other areas announce what they do.

use std::collections::BTreeSet;

use lyceum_webhooks::topics;

#[test]
fn every_kind_of_record_has_topics() {
    let names: BTreeSet<String> = topics::names().collect();
    for kind in lyceum_roster::kinds::ALL {
        for action in ["created", "updated", "deleted"] {
            let topic = format!("{}.{action}", kind.one);
            assert!(names.contains(&topic), "{topic}");
        }
    }
}
