//! Checks that the files that a database names exist and are undamaged.

use std::fs::File;
use std::io;

use lyceum_blob::{Blobs, Digest, Hasher, failed};
use lyceum_core::Result;
use lyceum_project::schema;

use crate::backup::NamedFiles;
use crate::bindings::copies;
use crate::homes;
use crate::nodes::Node;

/// Reads all files that the database names, and returns what is wrong: missing files, databases with damaged pages,
/// blobs with other bytes, and objects of buckets without their bytes. `on_read` is called with the number of files
/// read. Files in S3 are not checked.
pub fn check(
    (node, blobs): (&Node, &Blobs),
    named: &NamedFiles,
    is_in_s3: bool,
    mut on_read: impl FnMut(u64),
) -> Result<Vec<String>> {
    let (mut faults, mut files) = (Vec::new(), 0);
    let mut next = || {
        files += 1;
        on_read(files);
    };
    for (slug, names) in &named.projects {
        let folder = node.folder_of(slug);
        for name in names {
            next();
            let file = folder.join(name);
            if !file.exists() {
                faults.push(format!("projects/{slug}/{name}: it is missing"));
            } else if let Err(problem) = schema::check(&file) {
                faults.push(format!("projects/{slug}/{name}: {}", problem.message));
            } else if *name == homes::index() && !is_in_s3 {
                let objects = Blobs::on_disk(folder.join(homes::BUCKET).join("objects"))?;
                for digest in copies::pieces(&file)? {
                    next();
                    let fault = damage(&objects, &digest)?;
                    // The object may have been deleted since its index was read.
                    if let Some(fault) = fault
                        && copies::pieces(&file)?.contains(&digest)
                    {
                        faults.push(format!("projects/{slug}/objects/{digest}: {fault}"));
                    }
                }
            }
        }
    }
    for digest in named.blobs.iter().filter(|_| !is_in_s3) {
        next();
        if let Some(fault) = damage(blobs, digest)? {
            faults.push(format!("blobs/{digest}: {fault}"));
        }
    }
    Ok(faults)
}

/// The error of a blob.
fn damage(blobs: &Blobs, digest: &Digest) -> Result<Option<String>> {
    let Some(blob) = blobs.open(digest)? else { return Ok(Some("it is missing".to_owned())) };
    let (mut file, mut hash): (File, _) = (blob.file, Hasher::default());
    io::copy(&mut file, &mut hash).map_err(|fault| failed("read a blob", &fault))?;
    let found = hash.digest();
    Ok((found != *digest).then(|| format!("its bytes have the SHA-256 {found}")))
}
