//! Whatever bytes come, the parsers answer: no panic, no endless work.

use lyceum_core::time::Timestamp;
use lyceum_roster::record::{Record, Stamp};
use lyceum_roster::render::View;
use lyceum_roster::{Dialect, filter, kinds};
use serde_json::Value;

#[test]
fn filters() {
    let corpus: &[&[u8]] = &[
        b"title='Algebra' AND status='active'",
        b"(role='teacher' OR role='aide') AND user.sourcedId!='u''1'",
        b"score>=90.5 AND metadata.a.b~'x'",
        b"grades='03,04' or subjects~'Math'",
        b"((((enabledUser=true))))",
    ];
    lyceum_testkit::fuzz::run("filter", corpus, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let Ok(expr) = filter::parse(text) else { return };
        for kind in kinds::ALL {
            if let Ok(bound) = filter::bind(kind, &expr) {
                for store in [lyceum_store::Dialect::Sqlite, lyceum_store::Dialect::Postgres] {
                    filter::condition(store, &bound).expect("what was bound compiles");
                }
            }
        }
    });
}

#[test]
fn records() {
    let corpus: &[&[u8]] = &[
        br#"{"sourcedId":"a","title":"x","courseCode":"c","org":{"sourcedId":"o","type":"org"},"grades":["03",4]}"#,
        br#"{"sourcedId":"a","enabledUser":true,"givenName":"G","familyName":"F","roles":[{"roleType":"primary","role":"student","org":{"sourcedId":"o"}}],"metadata":{"x":[1,{"y":null}]}}"#,
        br#"{"sourcedId":"r","lineItem":{"sourcedId":"l"},"student":{"sourcedId":"s"},"scoreStatus":"fully graded","score":1e300,"scoreDate":"2026-01-15T00:00:00Z"}"#,
        br#"{"sourcedId":"t","title":"\u00e9\\\"\t","startDate":"2026-01-01","endDate":"2026-12-31","type":"ext:x","schoolYear":2026}"#,
    ];
    let now = Stamp::Keep(Timestamp::from_milliseconds(0));
    lyceum_testkit::fuzz::run("record", corpus, |bytes| {
        let Ok(Value::Object(object)) = serde_json::from_slice(bytes) else { return };
        for kind in kinds::ALL {
            for dialect in [Dialect::Platform, Dialect::Standard] {
                let Ok(record) = Record::parse(kind, &object, dialect, now) else { continue };
                let extra = record.extra.as_deref();
                let again = Record::stored(kind, &record.body, extra).expect("it was valid");
                assert_eq!(again.body, record.body);
                let view = View { base_url: "http://localhost", dialect, fields: None };
                let mut shown = String::new();
                view.render(&record.body, extra, &mut shown).expect("it is shown");
                serde_json::from_str::<Value>(&shown).expect("what is shown is JSON");
            }
        }
    });
}
