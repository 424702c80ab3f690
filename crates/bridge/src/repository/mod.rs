//! All SQL of the crate.

mod apps;
mod tracks;
pub mod unknown;

pub(crate) use apps::app_names;

pub(crate) use tracks::{delete_track, led, note_led, put_track, tracks, tracks_of_grades};
