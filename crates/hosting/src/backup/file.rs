//! The file of a backup: in a folder or an S3 bucket, and perhaps encrypted.

use std::io::{self, Read, Write};

use lyceum_blob::{FileLocation, NewFile, failed};
use lyceum_core::config::Config;
use lyceum_core::{Problem, ProblemKind, Result};

use super::BackupKey;
use super::encryption::{DecryptingReader, ENCRYPTED, EncryptingWriter};

/// A backup file that exists or will be written.
#[derive(Clone, Debug)]
pub struct BackupFile {
    /// Where it is.
    pub location: FileLocation,
    /// Its name there.
    pub name: String,
    /// The key that encrypts it; without one, it is written as it is, and read only if it is not encrypted.
    pub key: Option<BackupKey>,
}

/// A backup file that is read from its beginning.
pub struct OpenBackup {
    /// The archive, decrypted.
    pub(super) reader: Box<dyn Read + Send>,
    /// The size of the file in bytes.
    pub size: u64,
}

impl BackupFile {
    /// The file that a path or an `s3://` address names, with the service and the key of the settings. Errors:
    /// `Invalid`.
    pub fn parse(text: &str, config: &Config) -> Result<Self> {
        let (location, name) = FileLocation::parse_file(text, &config.s3)?;
        let key = BackupKey::from_setting(config.backup.key.as_ref())?;
        Ok(Self { location, name, key })
    }

    /// Its path or address.
    pub fn path(&self) -> String {
        self.location.path_of(&self.name)
    }

    /// Opens the file; `None` if it does not exist. Errors: `Invalid` if it is encrypted with another key, or not at all
    /// although there is a key.
    pub fn open(&self) -> Result<Option<OpenBackup>> {
        let Some(mut file) = self.location.open(&self.name)? else { return Ok(None) };
        let mut head = Vec::new();
        let read = (&mut file.reader).take(ENCRYPTED.len() as u64).read_to_end(&mut head);
        read.map_err(|fault| failed("read the backup", &fault))?;
        let size = file.size;
        if head != ENCRYPTED && self.key.is_some() {
            let message = "the backup is not encrypted, but 'backup.key' is set; somebody may have put it there";
            return Err(Problem::new(ProblemKind::Invalid, message));
        }
        if head != ENCRYPTED {
            let reader = Box::new(io::Cursor::new(head).chain(file.reader));
            return Ok(Some(OpenBackup { reader, size }));
        }
        let key = self.key.as_ref().ok_or_else(|| {
            let message =
                "the backup is encrypted; set 'backup.key' to the key with which it was encrypted";
            Problem::new(ProblemKind::Invalid, message)
        })?;
        let reader = Box::new(DecryptingReader::new(file.reader, key)?);
        Ok(Some(OpenBackup { reader, size }))
    }

    pub(super) fn create(&self) -> Result<BackupWriter> {
        let file = self.location.create(&self.name)?;
        match &self.key {
            None => Ok(BackupWriter::Plain(file)),
            Some(key) => EncryptingWriter::new(file, key)
                .map(BackupWriter::Encrypted)
                .map_err(|fault| failed("write the backup", &fault)),
        }
    }
}

/// A backup file that is being written.
pub(super) enum BackupWriter {
    Plain(NewFile),
    Encrypted(EncryptingWriter<NewFile>),
}

impl BackupWriter {
    /// Gives the file its name; returns its size in bytes.
    pub(super) fn finish(self) -> Result<u64> {
        match self {
            Self::Plain(file) => file.finish(),
            Self::Encrypted(writer) => {
                writer.finish().map_err(|fault| failed("write the backup", &fault))?.finish()
            }
        }
    }
}

impl Write for BackupWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Encrypted(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
