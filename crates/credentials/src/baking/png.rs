//! PNG: the credential is an uncompressed `iTXt` chunk with the keyword `openbadgecredential`.

use flate2::Crc;
use lyceum_core::problem::Result;

use super::{malformed, within_limit};
use crate::open_badges_2;

pub(crate) const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

const KEYWORD: &[u8] = b"openbadgecredential\0";
/// Not compressed, in no language, with no translated keyword.
const PLAIN: &[u8] = b"\0\0\0\0";

struct Chunk<'a> {
    kind: [u8; 4],
    data: &'a [u8],
}

impl Chunk<'_> {
    fn is_credential(&self) -> bool {
        self.kind == *b"iTXt" && self.data.starts_with(KEYWORD)
    }

    /// Whether it holds a badge of Open Badges 2.0 or before.
    fn is_open_badges_2(&self) -> bool {
        matches!(&self.kind, b"iTXt" | b"tEXt") && self.data.starts_with(b"openbadges\0")
    }
}

/// The image with the credential, JSON or a compact JWS, in place of the one that it held. Errors:
/// the image is not a PNG, is damaged, or is larger than the limit.
pub fn bake(image: &[u8], credential: &str) -> Result<Vec<u8>> {
    within_limit(image)?;
    let chunks = chunks(image)?;
    let mut baked = Vec::with_capacity(image.len() + credential.len() + 64);
    baked.extend(SIGNATURE);
    let text = [KEYWORD, PLAIN, credential.as_bytes()].concat();
    for chunk in chunks.iter().filter(|chunk| !chunk.is_credential()) {
        if chunk.kind == *b"IEND" {
            write_chunk(*b"iTXt", &text, &mut baked);
        }
        write_chunk(chunk.kind, chunk.data, &mut baked);
    }
    Ok(baked)
}

pub(super) fn unbake(image: &[u8]) -> Result<String> {
    let chunks = chunks(image)?;
    let mut credential_chunks = chunks.iter().filter(|chunk| chunk.is_credential());
    if credential_chunks.clone().next().is_none() && chunks.iter().any(Chunk::is_open_badges_2) {
        return Err(malformed(open_badges_2::fault("the PNG holds an Open Badges 2.0 badge")));
    }
    let (Some(chunk), None) = (credential_chunks.next(), credential_chunks.next()) else {
        return Err(malformed(
            "the PNG must contain exactly one credential, in an iTXt chunk with the keyword \
             'openbadgecredential'",
        ));
    };
    let text = &chunk.data[KEYWORD.len()..];
    let text = match text {
        [0, _, rest @ ..] => after_zero(rest).and_then(after_zero),
        [1, ..] => return Err(malformed("the credential in the PNG is compressed; bake it plain")),
        _ => None,
    };
    text.and_then(|text| String::from_utf8(text.to_vec()).ok())
        .ok_or_else(|| malformed("the credential in the PNG is not text in UTF-8"))
}

fn after_zero(bytes: &[u8]) -> Option<&[u8]> {
    bytes.iter().position(|byte| *byte == 0).map(|zero| &bytes[zero + 1..])
}

/// The chunks from IHDR to IEND, their checksums right.
fn chunks(image: &[u8]) -> Result<Vec<Chunk<'_>>> {
    let damaged = || malformed("the PNG is damaged: a chunk is cut off or its checksum is wrong");
    let mut rest =
        image.strip_prefix(&SIGNATURE).ok_or_else(|| malformed("the file is not a PNG image"))?;
    let mut chunks: Vec<Chunk<'_>> = Vec::new();
    while chunks.last().is_none_or(|chunk| chunk.kind != *b"IEND") {
        let (length, after) = rest.split_first_chunk().ok_or_else(damaged)?;
        let (kind, after) = after.split_first_chunk::<4>().ok_or_else(damaged)?;
        let length = u32::from_be_bytes(*length) as usize;
        let (data, after) = after.split_at_checked(length).ok_or_else(damaged)?;
        let (checksum, after) = after.split_first_chunk().ok_or_else(damaged)?;
        if u32::from_be_bytes(*checksum) != crc(*kind, data) {
            return Err(damaged());
        }
        chunks.push(Chunk { kind: *kind, data });
        rest = after;
    }
    match chunks[0].kind == *b"IHDR" {
        true => Ok(chunks),
        false => Err(damaged()),
    }
}

/// Writes a chunk: length, kind, data, checksum.
pub(crate) fn write_chunk(kind: [u8; 4], data: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(data.len()).expect("images and credentials are below 4 GiB");
    out.extend(length.to_be_bytes());
    out.extend(kind);
    out.extend(data);
    out.extend(crc(kind, data).to_be_bytes());
}

fn crc(kind: [u8; 4], data: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(&kind);
    crc.update(data);
    crc.sum()
}
