//! Writes a roster as a zip: file by file, row by row, and the manifest at the end.

use std::io::{Seek, Write};

use lyceum_core::{Problem, Result};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::files::{self, CsvFile, ENTRY, ENTRY_BEYOND};
use super::manifest::FileMode;

/// A zip to which CSV files are written one after the other. Equal rows give equal bytes.
pub struct PackageWriter<W: Write + Seek> {
    zip: ZipWriter<W>,
    mode: FileMode,
    written: Vec<(&'static str, u64)>,
}

/// Writes the rows of one file. The file is created with its first row, because a file without rows is not allowed
/// (CSV binding 1.2.1, section 3).
pub struct RowWriter<'a, W: Write + Seek> {
    zip: Option<&'a mut ZipWriter<W>>,
    out: Option<csv::Writer<&'a mut ZipWriter<W>>>,
    file: &'static CsvFile,
    more_headers: &'a [String],
    rows: u64,
}

impl<W: Write + Seek> PackageWriter<W> {
    /// A package that is written to `out`, whose files have this mode.
    pub fn new(out: W, mode: FileMode) -> Self {
        Self { zip: ZipWriter::new(out), mode, written: Vec::new() }
    }

    /// Writes a file. `more_headers` are columns after those of the table.
    pub fn file(
        &mut self,
        file: &'static CsvFile,
        more_headers: &[String],
        rows: impl FnOnce(&mut RowWriter<'_, W>) -> Result<()>,
    ) -> Result<()> {
        let mut writer =
            RowWriter { zip: Some(&mut self.zip), out: None, file, more_headers, rows: 0 };
        rows(&mut writer)?;
        if let Some(mut out) = writer.out {
            out.flush().map_err(Problem::internal)?;
        }
        if writer.rows > 0 {
            self.written.push((file.name, writer.rows));
        }
        Ok(())
    }

    /// Writes the manifest and completes the zip. Returns the files with their numbers of rows, and `out`.
    pub fn finish(mut self, system: &str) -> Result<(Vec<(&'static str, u64)>, W)> {
        self.zip.start_file("manifest.csv", options()).map_err(Problem::internal)?;
        let mut out = csv_writer(&mut self.zip);
        let mut line = |name: &str, value: &str| out.write_record([name, value]);
        line("propertyName", "value").map_err(Problem::internal)?;
        line("manifest.version", "1.0").map_err(Problem::internal)?;
        line("oneroster.version", "1.2").map_err(Problem::internal)?;
        let mut names: Vec<_> = files::ALL.iter().map(|file| file.name).collect();
        names.sort_by_key(|name| name.to_ascii_lowercase());
        for name in names {
            let is_written = self.written.iter().any(|(written, _)| *written == name);
            // The standard's manifest has no line for files outside the standard.
            let is_beyond = files::BEYOND_THE_STANDARD.contains(&name);
            if !is_written && is_beyond {
                continue;
            }
            let entry = if is_beyond { ENTRY_BEYOND } else { ENTRY };
            let mode = if is_written { self.mode.name() } else { "absent" };
            line(&format!("{entry}{name}"), mode).map_err(Problem::internal)?;
        }
        line("source.systemName", system).map_err(Problem::internal)?;
        line("source.systemCode", "lyceum").map_err(Problem::internal)?;
        out.flush().map_err(Problem::internal)?;
        drop(out);
        let inner = self.zip.finish().map_err(Problem::internal)?;
        Ok((self.written, inner))
    }
}

impl<W: Write + Seek> RowWriter<'_, W> {
    /// Writes a row.
    pub fn row<'c>(&mut self, cells: impl IntoIterator<Item = &'c str>) -> Result<()> {
        if self.out.is_none() {
            self.begin()?;
        }
        let out = self.out.as_mut().expect("`begin` sets it");
        out.write_record(cells).map_err(Problem::internal)?;
        self.rows += 1;
        Ok(())
    }

    fn begin(&mut self) -> Result<()> {
        let zip = self.zip.take().expect("a file begins once");
        zip.start_file(format!("{}.csv", self.file.name), options()).map_err(Problem::internal)?;
        let mut out = csv_writer(zip);
        for header in self.file.headers() {
            out.write_field(header).map_err(Problem::internal)?;
        }
        out.write_record(self.more_headers).map_err(Problem::internal)?;
        self.out = Some(out);
        Ok(())
    }
}

fn csv_writer<W: Write>(out: W) -> csv::Writer<W> {
    csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .buffer_capacity(64 * 1024)
        .from_writer(out)
}

/// Fast compression without time stamps, so that equal rows give equal bytes.
fn options() -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(1))
        .last_modified_time(zip::DateTime::default())
        .unix_permissions(0o644)
        .large_file(true)
}
