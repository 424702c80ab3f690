//! The master key: what seals private keys at rest.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use lyceum_core::random::secret_bytes;
use lyceum_core::{Problem, ProblemKind, Result, message};
use ring::hmac;

use crate::secret;

/// The file of the master key in the data folder.
const FILE: &str = "master.key";
const NONCE_BYTES: usize = 24;

/// A key of 32 bytes that seals other keys (XChaCha20-Poly1305). Every server of one database
/// must have the same one. During a rotation there are two: the main one seals, and both open.
#[derive(Clone)]
pub struct MasterKey {
    main: [u8; 32],
    other: Option<[u8; 32]>,
    /// The first master key of the database, from which other keys are derived.
    derivation: [u8; 32],
}

impl MasterKey {
    /// A new random key.
    pub fn random() -> Self {
        Self::new(secret_bytes())
    }

    fn new(main: [u8; 32]) -> Self {
        Self { main, other: None, derivation: main }
    }

    /// This key, which also opens what the other one sealed.
    #[must_use]
    pub fn with_other(self, other: &Self) -> Self {
        Self { other: Some(other.main), ..self }
    }

    /// Whether both are the same key.
    pub fn is_same(&self, other: &Self) -> bool {
        self.main == other.main
    }

    /// This key with the key from which others are derived.
    pub(crate) fn with_derivation(self, derivation: [u8; 32]) -> Self {
        Self { derivation, ..self }
    }

    /// The key from which others are derived, sealed under the main key.
    pub(crate) fn sealed_derivation(&self, label: &str) -> Vec<u8> {
        self.seal(label, &self.derivation)
    }

    pub(crate) fn derivation(&self) -> [u8; 32] {
        self.derivation
    }

    /// The two keys of a rotation, each alone: the main one and the other one.
    pub(crate) fn each_alone(&self) -> impl Iterator<Item = Self> {
        [Some(self.main), self.other].into_iter().flatten().map(Self::new)
    }

    /// Reads the text of a key, see [`parse_key`]; none for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        parse_key(text).map(Self::new)
    }

    /// Reads the key of a data folder; at the first start makes it, readable by its owner alone.
    /// Two processes that start together end with the same key.
    pub fn of_folder(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let failed = |action: &str, error: io::Error| {
            let message = message!(
                "the master key '{path}' cannot be {action}: {error}",
                path = path.display()
            );
            Problem::new(ProblemKind::Internal, message)
        };
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_key_file(folder, &path).map_err(|error| failed("created", error))?;
                fs::read_to_string(&path)
            }
            read => read,
        };
        Self::parse(&text.map_err(|error| failed("read", error))?).ok_or_else(|| {
            let message = message!(
                "the master key '{path}' is not 64 hex digits or base64 of 32 bytes; \
                 put the original file back",
                path = path.display()
            );
            Problem::new(ProblemKind::Internal, message)
        })
    }

    /// Seals the text so that it opens only with the same `label`.
    pub fn seal(&self, label: &str, plain: &[u8]) -> Vec<u8> {
        let nonce: [u8; NONCE_BYTES] = secret_bytes();
        let payload = Payload { msg: plain, aad: label.as_bytes() };
        let sealed = cipher(&self.main).encrypt(&XNonce::from(nonce), payload);
        [nonce.as_slice(), &sealed.expect("a key is far below the cipher's limit")].concat()
    }

    /// Opens what [`MasterKey::seal`] made; none with another key, another label or changed bytes.
    pub fn open(&self, label: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let opened = open(&self.main, label, sealed);
        opened.or_else(|| self.other.and_then(|other| open(&other, label, sealed)))
    }

    /// A text that only the same main key has, and that says nothing else about it.
    pub fn fingerprint(&self) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.main);
        let tag = hmac::sign(&key, b"fingerprint of the master key");
        BASE64_URL_SAFE_NO_PAD.encode(&tag.as_ref()[..12])
    }

    /// Whether the main key opens the value.
    pub(crate) fn is_sealed_by_main(&self, label: &str, sealed: &[u8]) -> bool {
        open(&self.main, label, sealed).is_some()
    }

    /// A key of its own for a purpose. It stays the same when the master key is rotated, and no way leads back.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.derivation);
        let tag = hmac::sign(&key, purpose.as_bytes());
        tag.as_ref().try_into().expect("the tag of HMAC-SHA256 has 32 bytes")
    }
}

fn cipher(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&(*key).into())
}

fn open(key: &[u8; 32], label: &str, sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
    let payload = Payload { msg: sealed, aad: label.as_bytes() };
    cipher(key).decrypt(&XNonce::from(*nonce), payload).ok()
}

/// A key of 32 bytes as 64 hex digits or base64; none for any other text.
pub fn parse_key(text: &str) -> Option<[u8; 32]> {
    let text = text.trim();
    let bytes = unhex(text)
        .or_else(|| BASE64_STANDARD.decode(text).ok())
        .or_else(|| BASE64_URL_SAFE_NO_PAD.decode(text).ok())?;
    bytes.try_into().ok()
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Master([redacted])")
    }
}

/// Writes a new key beside the place and links it there whole: a reader never sees half a key, and
/// of two writers the first wins.
fn create_key_file(folder: &Path, path: &Path) -> io::Result<()> {
    let draft = folder.join(secret::random_text::<9>(".master.key-"));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&draft)?;
    writeln!(file, "{}", BASE64_STANDARD.encode(secret_bytes::<32>()))?;
    file.sync_all()?;
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::File::open(folder)?.sync_all(),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_value_opens_only_with_its_key_and_label() {
        let master = MasterKey::random();
        let mut sealed = master.seal("label", b"plain");
        assert_eq!(master.open("label", &sealed).as_deref(), Some(b"plain".as_slice()));
        assert_eq!(master.open("other", &sealed), None);
        assert_eq!(MasterKey::random().open("label", &sealed), None);
        assert_eq!(master.open("label", &sealed[..10]), None);
        *sealed.last_mut().unwrap() ^= 1;
        assert_eq!(master.open("label", &sealed), None);
    }

    #[test]
    fn a_key_is_hex_or_base64_of_32_bytes() {
        let hex = "00ff".repeat(16);
        let base64 = BASE64_STANDARD.encode([0x00, 0xff].repeat(16));
        assert!(MasterKey::parse(&hex).unwrap().is_same(&MasterKey::parse(&base64).unwrap()));
        assert_eq!(
            MasterKey::parse(&format!("{hex}\n")).unwrap().main,
            [0x00, 0xff].repeat(16)[..]
        );
        for wrong in ["", "00ff", &hex[1..], &format!("{hex}00"), "é".repeat(32).as_str()] {
            assert!(MasterKey::parse(wrong).is_none(), "{wrong}");
        }
        assert_eq!(format!("{:?}", MasterKey::random()), "Master([redacted])");
    }

    #[test]
    fn the_key_file_is_readable_only_by_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let keys: Vec<_> = std::thread::scope(|scope| {
            let open = || MasterKey::of_folder(folder.path()).unwrap().main;
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap()).collect();
        assert_eq!(files.len(), 1, "no draft stays behind");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::write(folder.path().join(FILE), "not a key").unwrap();
        let message = MasterKey::of_folder(folder.path()).unwrap_err().to_string();
        assert!(message.contains("is not 64 hex digits or base64 of 32 bytes"), "{message}");
    }
}
