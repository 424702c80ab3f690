//! Encrypts a backup as it is written, and decrypts it as it is read: the STREAM construction over XChaCha20-Poly1305,
//! with the counter of 32 bits in big-endian order (`aead-stream`).
//!
//! The crate `age` 0.12 would bring 67 others, among them a second generation of those for hashes and curves, which
//! `deny.toml` refuses.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | [`ENCRYPTED`] |
//! | 19 | the random part of the nonces |
//! | 65 552 each, the last one may be shorter | a piece of 65 536 bytes, encrypted, and its tag of 16 bytes |
//!
//! Pieces cannot be changed, left out or put into another order, and the last one is marked, so a shortened file is
//! noticed.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use aead_stream::{DecryptorBE32, EncryptorBE32};
use chacha20poly1305::XChaCha20Poly1305;
use lyceum_access::parse_key;
use lyceum_blob::failed;
use lyceum_core::config::Secret;
use lyceum_core::random::secret_bytes;
use lyceum_core::{Problem, ProblemKind, Result};

/// The first bytes of an encrypted backup. The last but one is the version of the format.
pub(super) const ENCRYPTED: [u8; 8] = *b"LYCEUM\x01\n";
const NONCE_BYTES: usize = 19;
const PIECE_BYTES: usize = 64 * 1024;
const TAG_BYTES: usize = 16;

/// The key that encrypts backups.
#[derive(Clone)]
pub struct BackupKey([u8; 32]);

impl BackupKey {
    /// The key in `backup.key` of the settings; `None` if there is none. Errors: `Invalid` if it is not a key.
    pub fn from_setting(setting: Option<&Secret>) -> Result<Option<Self>> {
        let Some(text) = setting else { return Ok(None) };
        let key = parse_key(text.reveal()).ok_or_else(|| {
            let message = "'backup.key' must be 64 hex digits or base64 of 32 bytes; create one with \
                           `openssl rand -hex 32`";
            Problem::new(ProblemKind::Invalid, message)
        });
        Ok(Some(Self(key?)))
    }
}

impl fmt::Debug for BackupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BackupKey([redacted])")
    }
}

/// Encrypts everything written to it.
pub(super) struct EncryptingWriter<W> {
    to: W,
    cipher: EncryptorBE32<XChaCha20Poly1305>,
    piece: Vec<u8>,
}

impl<W: Write> EncryptingWriter<W> {
    /// Begins an encrypted file.
    pub(super) fn new(mut to: W, key: &BackupKey) -> io::Result<Self> {
        let nonce: [u8; NONCE_BYTES] = secret_bytes();
        to.write_all(&ENCRYPTED)?;
        to.write_all(&nonce)?;
        let cipher = EncryptorBE32::new(&key.0.into(), &nonce.into());
        Ok(Self { to, cipher, piece: Vec::with_capacity(PIECE_BYTES) })
    }

    /// Ends the encrypted file.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let last = self.cipher.encrypt_last(&self.piece[..]).map_err(|_| too_long())?;
        self.to.write_all(&last)?;
        Ok(self.to)
    }
}

impl<W: Write> Write for EncryptingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full piece waits for more, because the last one is encrypted differently.
        if self.piece.len() == PIECE_BYTES {
            let sealed = self.cipher.encrypt_next(&self.piece[..]).map_err(|_| too_long())?;
            self.to.write_all(&sealed)?;
            self.piece.clear();
        }
        let count = bytes.len().min(PIECE_BYTES - self.piece.len());
        self.piece.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn too_long() -> io::Error {
    io::Error::other("an encrypted backup has at most 256 TiB")
}

/// Decrypts everything read through it.
pub(super) struct DecryptingReader<R> {
    from: BufReader<R>,
    /// `None` after the last piece.
    cipher: Option<DecryptorBE32<XChaCha20Poly1305>>,
    piece: Vec<u8>,
    /// The bytes of the piece that were read.
    read: usize,
}

impl<R: Read> DecryptingReader<R> {
    /// Reads an encrypted file after its first bytes, [`ENCRYPTED`]. Errors: `Invalid` if it has another key.
    pub(super) fn new(mut from: R, key: &BackupKey) -> Result<Self> {
        let mut nonce = [0; NONCE_BYTES];
        from.read_exact(&mut nonce).map_err(|fault| failed("read the backup", &fault))?;
        let cipher = DecryptorBE32::new(&key.0.into(), &nonce.into());
        let from = BufReader::with_capacity(PIECE_BYTES + TAG_BYTES, from);
        let mut reader = Self { from, cipher: Some(cipher), piece: Vec::new(), read: 0 };
        reader.next_piece().map_err(|fault| match fault.kind() {
            io::ErrorKind::InvalidData => {
                let message = "the backup was encrypted with a key other than 'backup.key', or its beginning is \
                               damaged";
                Problem::new(ProblemKind::Invalid, message)
            }
            _ => failed("read the backup", &fault),
        })?;
        Ok(reader)
    }

    fn next_piece(&mut self) -> io::Result<()> {
        let Some(mut cipher) = self.cipher.take() else { return Ok(()) };
        let mut sealed = Vec::with_capacity(PIECE_BYTES + TAG_BYTES);
        (&mut self.from).take((PIECE_BYTES + TAG_BYTES) as u64).read_to_end(&mut sealed)?;
        let opened = if self.from.fill_buf()?.is_empty() {
            cipher.decrypt_last(&sealed[..])
        } else {
            let opened = cipher.decrypt_next(&sealed[..]);
            self.cipher = Some(cipher);
            opened
        };
        let damaged = "an encrypted piece was changed, or the file was shortened";
        self.piece = opened.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, damaged))?;
        self.read = 0;
        Ok(())
    }
}

impl<R: Read> Read for DecryptingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.piece.len() {
            self.piece.clear();
            self.next_piece()?;
        }
        let rest = self.piece.get(self.read..).unwrap_or_default();
        let count = buffer.len().min(rest.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encrypted(plain: &[u8], key: &BackupKey) -> Vec<u8> {
        let mut writer = EncryptingWriter::new(Vec::new(), key).unwrap();
        writer.write_all(plain).unwrap();
        writer.finish().unwrap()
    }

    fn decrypted(sealed: &[u8], key: &BackupKey) -> Result<io::Result<Vec<u8>>> {
        let mut plain = Vec::new();
        let mut reader = DecryptingReader::new(&sealed[ENCRYPTED.len()..], key)?;
        Ok(reader.read_to_end(&mut plain).map(|_| plain))
    }

    #[test]
    fn texts_of_all_lengths_are_decrypted_and_every_change_is_noticed() {
        let (key, other) = (BackupKey([7; 32]), BackupKey([8; 32]));
        for length in [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES] {
            let plain: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let sealed = encrypted(&plain, &key);
            assert_eq!(sealed[..ENCRYPTED.len()], ENCRYPTED);
            assert_eq!(decrypted(&sealed, &key).unwrap().unwrap(), plain, "{length} bytes");
            assert!(decrypted(&sealed, &other).unwrap_err().message.contains("key other than"));
            let is_refused = |sealed: &[u8]| !matches!(decrypted(sealed, &key), Ok(Ok(_)));
            for at in [ENCRYPTED.len(), sealed.len() / 2, sealed.len() - 1] {
                let mut changed = sealed.clone();
                changed[at.max(ENCRYPTED.len())] ^= 1;
                assert!(is_refused(&changed), "byte {at} of {length} was changed");
            }
            for short in [sealed.len() - 1, sealed.len().saturating_sub(PIECE_BYTES + TAG_BYTES)] {
                let short = &sealed[..short.max(ENCRYPTED.len())];
                assert!(is_refused(short), "{length} bytes were shortened to {}", short.len());
            }
        }
    }
}
