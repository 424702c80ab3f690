//! The names and references of documents.

use lyceum_qti::{
    DocumentKind, DocumentPlace, XmlFileKind, manifest_files, summary, xml_file_kind,
};

const TEST: &str = r#"<?xml version="1.0"?>
<qti-assessment-test xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier=" t " title="T">
  <qti-test-part identifier="p" navigation-mode="linear" submission-mode="individual">
    <qti-assessment-section identifier="s" title="S" visible="true">
      <qti-assessment-item-ref identifier="i" href="items/i.xml"/><qti-assessment-item-ref identifier="j" href=" j.xml "/>
      <qti-assessment-section-ref identifier="r" href="r.xml"/>
    </qti-assessment-section>
  </qti-test-part>
</qti-assessment-test>"#;

#[test]
fn a_summary_has_the_name_and_links_of_a_document() {
    let found = summary(TEST).unwrap();
    assert_eq!((found.kind, &*found.identifier), (DocumentKind::Test, "t"));
    assert_eq!(found.place, DocumentPlace { line: 2, column: 1 });
    let links: Vec<_> = found
        .links
        .iter()
        .map(|link| (link.kind, &*link.identifier, &*link.href, link.place.line, link.place.column))
        .collect();
    assert_eq!(
        links,
        [
            (DocumentKind::Item, "i", "items/i.xml", 5, 7),
            (DocumentKind::Item, "j", "j.xml", 5, 67),
            (DocumentKind::Section, "r", "r.xml", 6, 7),
        ]
    );
    let old =
        r#"<assessmentItem xmlns="http://www.imsglobal.org/xsd/imsqti_v2p2" identifier="o"/>"#;
    assert_eq!(summary(old).unwrap().kind, DocumentKind::Item);
    assert!(summary("<a/>").unwrap_err().message.contains("which is not a QTI document"));
}

#[test]
fn qti_documents_are_distinguished_from_other_xml() {
    use XmlFileKind::{Document, Manifest, Other, Qti1};
    for (text, kind) in [
        (TEST, Document),
        ("\u{feff}<?xml version=\"1.0\"?><!-- x --><qti-assessment-item", Document),
        ("<q:qti-assessment-item xmlns:q='urn:x'><p></q>", Document),
        ("<assessmentItem/>", Document),
        ("<questestinterop xmlns='http://www.imsglobal.org/xsd/ims_qtiasiv1p2'/>", Qti1),
        ("<manifest/>", Manifest),
        ("<qti-response-processing/>", Other),
        ("no xml", Document),
        ("", Document),
    ] {
        assert_eq!(xml_file_kind(text), kind, "{text}");
    }
}

#[test]
fn a_manifest_names_each_file_once() {
    let manifest = r#"<manifest xmlns="http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1"><resources>
        <resource type="imsqti_item_xmlv3p0" href="items/a.xml"><file href="items/a.xml"/><file href="./b%20c.png"/></resource>
        <resource type="webcontent" href="https://example.org/page"/>
        <resource><file href="b c.png"/></resource>
    </resources></manifest>"#;
    let found = manifest_files(manifest).unwrap();
    let found: Vec<_> = found.iter().map(|one| (&*one.path, &*one.resource_type)).collect();
    let item = "imsqti_item_xmlv3p0";
    assert_eq!(found, [("items/a.xml", item), ("b c.png", item)]);
    assert!(manifest_files("<manifest>").is_err());
}
