//! All SQL of the crate.

mod apps;
pub(crate) mod school_hours;
pub(crate) mod tracks;
pub mod unknown_actors;

pub(crate) use apps::app_names;

pub(crate) use tracks::{
    delete_track, enrolled_by_tracks, levels_below, note_enrolled_by_tracks, put_track, tracks,
    tracks_of_grades,
};
