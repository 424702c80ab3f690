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
use lyceum_core::{Problem, ProblemKind, Result};
use ring::hmac;

use crate::secret;

/// The file of the master key in the data folder.
const FILE: &str = "master.key";
const NONCE_BYTES: usize = 24;

/// A key of 32 bytes that seals other keys (XChaCha20-Poly1305). Every server of one database
/// must have the same one.
#[derive(Clone)]
pub struct MasterKey([u8; 32]);

impl MasterKey {
    /// A new random key.
    pub fn random() -> Self {
        Self(secret_bytes())
    }

    /// Reads 64 hex digits or base64 of 32 bytes; none for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let bytes = unhex(text)
            .or_else(|| BASE64_STANDARD.decode(text).ok())
            .or_else(|| BASE64_URL_SAFE_NO_PAD.decode(text).ok())?;
        Some(Self(bytes.try_into().ok()?))
    }

    /// Reads the key of a data folder; at the first start makes it, readable by its owner alone.
    /// Two processes that start together end with the same key.
    pub fn of_folder(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let failed = |action: &str, error: io::Error| {
            let message =
                format!("the master key '{}' cannot be {action}: {error}", path.display());
            Problem::new(ProblemKind::Internal, message)
        };
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(folder, &path).map_err(|error| failed("made", error))?;
                fs::read_to_string(&path)
            }
            read => read,
        };
        Self::parse(&text.map_err(|error| failed("read", error))?).ok_or_else(|| {
            let message = format!(
                "the master key '{}' is not 64 hex digits or base64 of 32 bytes; \
                 put the original file back",
                path.display()
            );
            Problem::new(ProblemKind::Internal, message)
        })
    }

    /// Seals the text so that it opens only with the same `label`.
    pub fn seal(&self, label: &str, plain: &[u8]) -> Vec<u8> {
        let nonce: [u8; NONCE_BYTES] = secret_bytes();
        let payload = Payload { msg: plain, aad: label.as_bytes() };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload);
        [nonce.as_slice(), &sealed.expect("a key is far below the cipher's limit")].concat()
    }

    /// Opens what [`MasterKey::seal`] made; none with another key, another label or changed bytes.
    pub fn open(&self, label: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg: sealed, aad: label.as_bytes() };
        self.cipher().decrypt(&XNonce::from(*nonce), payload).ok()
    }

    /// A key of its own for a purpose: the same as long as this one is, and no way back to it.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let tag = hmac::sign(&key, purpose.as_bytes());
        tag.as_ref().try_into().expect("the tag of HMAC-SHA256 has 32 bytes")
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.0.into())
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Master([redacted])")
    }
}

/// Writes a new key beside the place and links it there whole: a reader never sees half a key, and
/// of two writers the first wins.
fn make(folder: &Path, path: &Path) -> io::Result<()> {
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
    fn a_seal_opens_with_its_key_and_label_alone() {
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
        assert_eq!(MasterKey::parse(&hex).unwrap().0, MasterKey::parse(&base64).unwrap().0);
        assert_eq!(MasterKey::parse(&format!("{hex}\n")).unwrap().0, [0x00, 0xff].repeat(16)[..]);
        for wrong in ["", "00ff", &hex[1..], &format!("{hex}00"), "é".repeat(32).as_str()] {
            assert!(MasterKey::parse(wrong).is_none(), "{wrong}");
        }
        assert_eq!(format!("{:?}", MasterKey::random()), "Master([redacted])");
    }

    #[test]
    fn a_folder_keeps_its_key_readable_by_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let keys: Vec<_> = std::thread::scope(|scope| {
            let open = || MasterKey::of_folder(folder.path()).unwrap().0;
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
        let told = MasterKey::of_folder(folder.path()).unwrap_err().to_string();
        assert!(told.contains("is not 64 hex digits or base64 of 32 bytes"), "{told}");
    }
}
