//! Reading a row as a value, without the numbers of its columns.

use std::error::Error;
use std::str::FromStr;

use lyceum_core::time::Timestamp;
use lyceum_core::{Message, Problem, Result};

use crate::{Row, Value};

/// A value that can be read from neighbouring columns of a row: a single value, an `Option` of one for a column that
/// can be NULL, a tuple of them, or a struct that [`columns!`](crate::columns) declares.
///
/// [`Row::read`] reads one. It checks that the statement has as many columns as are read.
pub trait FromRow<'r>: Sized {
    /// The number of columns.
    const WIDTH: usize;

    /// Reads the columns from `first` on.
    fn from_row(row: &'r Row<'_>, first: usize) -> Result<Self>;
}

macro_rules! cells {
    ($($type:ty: |$row:ident, $at:ident| $read:expr;)*) => {$(
        impl<'r> FromRow<'r> for $type {
            const WIDTH: usize = 1;

            fn from_row($row: &'r Row<'_>, $at: usize) -> Result<Self> {
                $read
            }
        }
    )*};
}

cells! {
    i64: |row, at| row.int(at);
    f64: |row, at| row.real(at);
    bool: |row, at| Ok(row.int(at)? != 0);
    &'r str: |row, at| row.text(at);
    String: |row, at| row.string(at);
    Message: |row, at| Ok(Message::from_stored(row.string(at)?));
    &'r [u8]: |row, at| row.blob(at);
    Vec<u8>: |row, at| Ok(row.blob(at)?.to_vec());
    Timestamp: |row, at| row.time(at);
    u8: |row, at| row.int(at)?.try_into().map_err(Problem::internal);
    u16: |row, at| row.int(at)?.try_into().map_err(Problem::internal);
    u32: |row, at| row.int(at)?.try_into().map_err(Problem::internal);
    usize: |row, at| row.int(at)?.try_into().map_err(Problem::internal);
    // Seeds and hashes use all 64 bits of a whole number.
    u64: |row, at| Ok(row.int(at)?.cast_unsigned());
}

/// Reads `None` where the first column is NULL, as all columns of a `LEFT JOIN` without a match are.
impl<'r, T: FromRow<'r>> FromRow<'r> for Option<T> {
    const WIDTH: usize = T::WIDTH;

    fn from_row(row: &'r Row<'_>, first: usize) -> Result<Self> {
        match row.cell(first)? {
            Value::Null => Ok(None),
            _ => T::from_row(row, first).map(Some),
        }
    }
}

/// Says that a type is read from a column that holds its text, as `FromStr` of the type reads it.
#[macro_export]
macro_rules! parsed_column {
    ($name:ty) => {
        impl<'r> $crate::FromRow<'r> for $name {
            const WIDTH: usize = 1;

            fn from_row(row: &'r $crate::Row<'_>, at: usize) -> lyceum_core::Result<Self> {
                row.text(at)?.parse().map_err(lyceum_core::Problem::internal)
            }
        }
    };
}

/// Says that a type is read from a column that holds it as JSON text.
#[macro_export]
macro_rules! json_column {
    ($name:ty) => {
        impl<'r> $crate::FromRow<'r> for $name {
            const WIDTH: usize = 1;

            fn from_row(row: &'r $crate::Row<'_>, at: usize) -> lyceum_core::Result<Self> {
                serde_json::from_str(row.text(at)?).map_err(lyceum_core::Problem::internal)
            }
        }
    };
}

json_column!(serde_json::Value);
json_column!(serde_json::Map<String, serde_json::Value>);

macro_rules! tuples {
    ($($($part:ident)*;)*) => {$(
        impl<'r, $($part: FromRow<'r>),*> FromRow<'r> for ($($part,)*) {
            const WIDTH: usize = 0 $(+ $part::WIDTH)*;

            fn from_row(row: &'r Row<'_>, first: usize) -> Result<Self> {
                let mut columns = Columns { row, next: first };
                Ok(($(columns.read::<$part>()?,)*))
            }
        }
    )*};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}

/// The columns of a row, read one after the other.
pub struct Columns<'r, 'row> {
    row: &'r Row<'row>,
    next: usize,
}

impl<'r, 'row> Columns<'r, 'row> {
    /// The columns from `first` on.
    pub fn new(row: &'r Row<'row>, first: usize) -> Self {
        Self { row, next: first }
    }

    /// Reads the next columns.
    pub fn read<T: FromRow<'r>>(&mut self) -> Result<T> {
        let first = self.next;
        self.next += T::WIDTH;
        T::from_row(self.row, first)
    }
}

impl Row<'_> {
    /// Reads the whole row.
    pub fn read<'r, T: FromRow<'r>>(&'r self) -> Result<T> {
        let (has, reads) = (self.width(), T::WIDTH);
        if has != reads {
            return Err(Problem::internal(format!("{reads} of a row's {has} columns are read")));
        }
        T::from_row(self, 0)
    }
}

/// The number of columns in a list of them: of commas outside parentheses, and one.
pub const fn count_columns(list: &str) -> usize {
    let (mut count, mut depth, mut at) = (1, 0_usize, 0);
    while at < list.len() {
        match list.as_bytes()[at] {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 0 => count += 1,
            _ => {}
        }
        at += 1;
    }
    count
}

/// Declares which columns the fields of a struct are read from: in one place, so that a `SELECT` and its reader
/// agree. The struct gets the constant `COLUMNS` for the `SELECT`, and [`FromRow`]. A field that is such a struct
/// itself names all of its columns.
///
/// `columns!(Course { id: "c.id", title: "c.title" })` lets `SELECT {Course::COLUMNS} FROM courses c` be read by
/// `row.read::<Course>()`. A field whose type is not read as it is stored names a function behind its column:
/// `begun: "begun" => parsed`.
#[macro_export]
macro_rules! columns {
    ($name:ident {
        $first:ident: $first_column:literal $(=> $first_from:expr)?
        $(, $field:ident: $column:literal $(=> $from:expr)?)* $(,)?
    }) => {
        impl $name {
            /// The columns that it is read from.
            pub(crate) const COLUMNS: &'static str =
                concat!($first_column $(, ", ", $column)*);
        }

        impl<'r> $crate::FromRow<'r> for $name {
            const WIDTH: usize = $crate::count_columns(Self::COLUMNS);

            fn from_row(row: &'r $crate::Row<'_>, first: usize) -> lyceum_core::Result<Self> {
                let mut columns = $crate::Columns::new(row, first);
                Ok(Self {
                    $first: $crate::column!(columns $($first_from)?)
                    $(, $field: $crate::column!(columns $($from)?))*
                })
            }
        }
    };
}

/// The next column, as it is stored or through a function. For [`columns!`](crate::columns).
#[doc(hidden)]
#[macro_export]
macro_rules! column {
    ($columns:ident) => {
        $columns.read()?
    };
    ($columns:ident $from:expr) => {
        $from($columns.read()?)?
    };
}

/// Reads a value from its stored text.
pub fn parsed<T: FromStr<Err: Into<Box<dyn Error + Send + Sync>>>>(text: &str) -> Result<T> {
    text.parse().map_err(Problem::internal)
}

/// Reads a value from its stored text, or NULL.
pub fn opt_parsed<T: FromStr<Err: Into<Box<dyn Error + Send + Sync>>>>(
    text: Option<&str>,
) -> Result<Option<T>> {
    text.map(parsed).transpose()
}

/// Says that a type is read from a column that holds its name, with the function that knows the names.
#[macro_export]
macro_rules! named_column {
    ($name:ty, $named:expr) => {
        impl<'r> $crate::FromRow<'r> for $name {
            const WIDTH: usize = 1;

            fn from_row(row: &'r $crate::Row<'_>, at: usize) -> lyceum_core::Result<Self> {
                let text = row.text(at)?;
                $named(text).ok_or_else(|| {
                    let name = stringify!($name);
                    lyceum_core::Problem::internal(format!("there is no {name} '{text}'"))
                })
            }
        }
    };
}
