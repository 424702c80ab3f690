//! Files of items and stimuli.

use lyceum_assessment::files::{self, NewFile};
use lyceum_assessment::{ContentKind, repository};
use lyceum_store::SqlDialect;

use crate::{both, now, plain_item};

#[test]
fn an_import_stores_no_file_of_a_document_that_is_deleted_meanwhile() {
    both(|db| {
        // SQLite runs one write after the other.
        if db.dialect() == SqlDialect::Sqlite {
            return;
        }
        db.write_blocking(|tx| repository::create(tx, now(), &plain_item("i"))).unwrap();
        let file = NewFile { path: "a.png".into(), sha256: "0".repeat(64), size: 1 };
        let stored = db.write_blocking(|tx| {
            repository::require(tx, ContentKind::Item, "i")?;
            db.write_blocking(|other| {
                repository::delete(other, now(), ContentKind::Item, "i", None)
            })?;
            files::put(tx, now(), ContentKind::Item, "i", &file)
        });
        stored.unwrap_err();
        let left = db.read_blocking(|tx| files::list_stored(tx, ContentKind::Item, "i")).unwrap();
        assert_eq!(left, []);
    });
}
