//! Objects that arrive in parts.

use lyceum_blob::Writer;
use lyceum_core::Problem;
use lyceum_core::random::secret_id;
use lyceum_core::text::hex;
use md5::{Digest as _, Md5};
use rusqlite::{OptionalExtension, Transaction, params};
use serde_json::{Map, Value as Json};

use super::{R2Bucket, json, store};
use crate::bindings::stores::r2::{CompletedPart, MetadataField, R2Fault, R2Object};
use crate::limits::{R2_OBJECT_MAX_BYTES, R2_PART_MIN_BYTES, R2_UPLOAD_KEPT_S};

/// An uploaded part.
struct StoredPart {
    sha256: [u8; 32],
    size: u64,
    md5: [u8; 16],
}

/// An upload's id, and the numbers and MD5s of its parts.
pub(crate) type UnfinishedUpload = (String, Vec<(i64, [u8; 16])>);

/// Metadata of an upload as JSON, and whether it is complete or aborted.
type UploadState = (String, String, bool);

impl R2Bucket {
    /// Begins an upload and returns its id. Expired uploads are aborted.
    pub(crate) fn begin_upload(
        &self,
        key: &str,
        http: &Map<String, Json>,
        custom: &[MetadataField],
    ) -> Result<String, R2Fault> {
        let id = secret_id();
        let now = self.clock.now().seconds();
        self.change(|index, gone| {
            let old = "SELECT id FROM upload WHERE NOT is_over AND begun <= ?1";
            let old = index
                .prepare_cached(old)?
                .query_map([now - R2_UPLOAD_KEPT_S], |row| row.get(0))?
                .collect::<rusqlite::Result<Vec<String>>>()?;
            old.iter().try_for_each(|id| end(index, id, gone))?;
            let add =
                "INSERT INTO upload (id, key, http, custom, begun) VALUES (?1, ?2, ?3, ?4, ?5)";
            index.prepare_cached(add)?.execute(params![id, key, json(http), json(custom), now])?;
            Ok(Ok(()))
        })?;
        Ok(id)
    }

    /// The open upload of this object with the most parts, with their numbers and MD5s.
    pub(crate) fn unfinished(
        &self,
        key: &str,
        http: &Map<String, Json>,
        custom: &[MetadataField],
    ) -> Result<Option<UnfinishedUpload>, R2Fault> {
        self.with_connection(|index| {
            let sql = "SELECT upload.id FROM upload LEFT JOIN part ON part.upload = upload.id \
                       WHERE key = ?1 AND http = ?2 AND custom = ?3 AND NOT is_over \
                       GROUP BY upload.id ORDER BY count(part.number) DESC LIMIT 1";
            let asked = params![key, json(http), json(custom)];
            let id: Option<String> =
                index.prepare_cached(sql)?.query_row(asked, |row| row.get(0)).optional()?;
            let Some(id) = id else { return Ok(None) };
            let sql = "SELECT number, md5 FROM part WHERE upload = ?1 ORDER BY number";
            let mut parts = index.prepare_cached(sql)?;
            let parts = parts.query_map([&id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let parts = parts.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(Some((id, parts)))
        })
    }

    /// Stores a part, replaces one with the same number, and returns its tag.
    pub(crate) fn put_part(
        &self,
        key: &str,
        (upload, number): (String, i64),
        writer: Writer,
        md5: [u8; 16],
    ) -> Result<String, R2Fault> {
        let size = i64::try_from(writer.size()).unwrap_or(i64::MAX);
        let digest = writer.digest();
        self.change(|index, gone| {
            if self::upload(index, key, &upload)?.is_none_or(|(.., is_over)| is_over) {
                return Ok(Err(R2Fault::NoSuchUpload));
            }
            if let Err(problem) = writer.store() {
                return Ok(Err(problem.into()));
            }
            let before = "DELETE FROM part WHERE upload = ?1 AND number = ?2 RETURNING sha256";
            let before: Option<[u8; 32]> = index
                .prepare_cached(before)?
                .query_row(params![upload, number], |row| row.get(0))
                .optional()?;
            gone.extend(before);
            let add = "INSERT INTO part (upload, number, sha256, size, md5) \
                       VALUES (?1, ?2, ?3, ?4, ?5)";
            index.prepare_cached(add)?.execute(params![upload, number, digest.0, size, md5])?;
            self.within_quota(index, gone, digest.0)
        })?;
        Ok(hex(md5))
    }

    /// Combines the named parts into the object with this key, without copying bytes.
    pub(crate) fn complete(
        &self,
        key: &str,
        upload: &str,
        named: &[CompletedPart],
    ) -> Result<R2Object, R2Fault> {
        let uploaded = self.clock.now().milliseconds();
        self.change(|index, gone| {
            let (http, custom) = match self::upload(index, key, upload)? {
                None => return Ok(Err(unknown(key, upload))),
                Some((.., true)) => return Ok(Err(R2Fault::NoSuchUpload)),
                Some((http, custom, false)) => (http, custom),
            };
            let parts = match chosen(index, upload, named)? {
                Ok(parts) => parts,
                Err(fault) => return Ok(Err(fault)),
            };
            let size = parts.iter().map(|part| part.size).sum();
            if size > R2_OBJECT_MAX_BYTES {
                return Ok(Err(R2Fault::TooLarge));
            }
            let mut md5 = Md5::new();
            for part in &parts {
                md5.update(part.md5);
            }
            let object = R2Object {
                key: key.to_owned(),
                version: secret_id(),
                size,
                etag: format!("{}-{}", hex(md5.finalize()), parts.len()),
                uploaded,
                checksums: Map::new(),
                http: serde_json::from_str(&http).unwrap_or_default(),
                custom: serde_json::from_str(&custom).unwrap_or_default(),
            };
            let pieces: Vec<[u8; 32]> = parts.iter().map(|part| part.sha256).collect();
            store(index, &object, &pieces, gone)?;
            end(index, upload, gone)?;
            Ok(Ok(object))
        })
    }

    /// Aborts an upload.
    pub(crate) fn abort(&self, key: &str, upload: &str) -> Result<(), R2Fault> {
        self.change(|index, gone| {
            if self::upload(index, key, upload)?.is_none() {
                return Ok(Err(unknown(key, upload)));
            }
            end(index, upload, gone)?;
            Ok(Ok(()))
        })
    }
}

/// R2 answers an unknown upload with an internal error.
fn unknown(key: &str, upload: &str) -> R2Fault {
    Problem::internal(format!("there is no upload '{upload}' of '{key}'")).into()
}

fn upload(index: &Transaction<'_>, key: &str, id: &str) -> rusqlite::Result<Option<UploadState>> {
    index
        .prepare_cached("SELECT http, custom, is_over FROM upload WHERE id = ?1 AND key = ?2")?
        .query_row([id, key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()
}

/// The parts that the caller names, ordered by number. All must have the same size, except that the last
/// may be smaller.
fn chosen(
    index: &Transaction<'_>,
    upload: &str,
    named: &[CompletedPart],
) -> rusqlite::Result<Result<Vec<StoredPart>, R2Fault>> {
    let sql = "SELECT sha256, size, md5 FROM part WHERE upload = ?1 AND number = ?2";
    let mut find = index.prepare_cached(sql)?;
    let mut parts = Vec::with_capacity(named.len());
    for CompletedPart { part: number, etag } in named {
        let part = find.query_row(params![upload, number], |row| {
            let size = row.get::<_, i64>(1)?.unsigned_abs();
            Ok(StoredPart { sha256: row.get(0)?, size, md5: row.get(2)? })
        });
        match part.optional()? {
            Some(part) if hex(part.md5) == *etag => parts.push((*number, part)),
            _ => return Ok(Err(R2Fault::NoSuchPart)),
        }
    }
    let is_small = |(_, part): &(i64, StoredPart)| part.size < R2_PART_MIN_BYTES;
    if parts.iter().rev().skip(1).any(is_small) {
        return Ok(Err(R2Fault::PartTooSmall));
    }
    parts.sort_by_key(|(number, _)| *number);
    if parts.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Ok(Err(Problem::internal("a part is named twice").into()));
    }
    let parts: Vec<StoredPart> = parts.into_iter().map(|(_, part)| part).collect();
    if let [first, middle @ .., last] = parts.as_slice() {
        let is_even = middle.iter().all(|part| part.size == first.size);
        if !is_even || last.size > first.size {
            return Ok(Err(R2Fault::UnevenParts));
        }
    }
    Ok(Ok(parts))
}

/// Closes the upload and removes parts that did not become an object.
fn end(index: &Transaction<'_>, upload: &str, gone: &mut Vec<[u8; 32]>) -> rusqlite::Result<()> {
    index.prepare_cached("UPDATE upload SET is_over = 1 WHERE id = ?1")?.execute([upload])?;
    let mut parts = index.prepare_cached("DELETE FROM part WHERE upload = ?1 RETURNING sha256")?;
    for digest in parts.query_map([upload], |row| row.get(0))? {
        gone.push(digest?);
    }
    Ok(())
}
