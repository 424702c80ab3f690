//! Subject tracks: the course to which a subject leads in a grade.
//!
//! A track enrolls a student in a course only once, and nothing that happens to a track ends an enrollment. So
//! unenrolling lasts, and a table never takes away a course in which a student made progress.

use std::collections::BTreeMap;

use lyceum_core::body::OneLineText;
use lyceum_core::limits::SOURCED_ID_MAX_CHARS;
use lyceum_core::messages::unknown_reference;
use lyceum_core::{Detail, Problem, ProblemKind, Reach, Result, message};
use lyceum_roster::fields;
use lyceum_roster::grade::{Grade, comparable};
use lyceum_roster::kinds::{COURSE, ORG};
use lyceum_roster::reach::{self, keep_within};
use lyceum_roster::record::Object;
use lyceum_roster::repository::RecordUse;
use lyceum_store::Tx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::limits;
use crate::repository;

pub use crate::repository::tracks::Track;

/// The namespace for ids of tracks, which are computed from subject, grade and organization.
const NAMESPACE: Uuid = Uuid::from_u128(0x3d0a_9c7e_61b8_4f7d_8a34_12e5_b7a9_c0d2);

/// A request to set the course of a subject in a grade.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubjectTrackInput {
    /// The subject; case does not matter.
    #[schemars(with = "OneLineText", extend("maxLength" = SOURCED_ID_MAX_CHARS))]
    pub subject: String,
    /// The grade.
    pub grade: Grade,
    /// The course to which the track leads.
    #[schemars(with = "OneLineText", extend("maxLength" = SOURCED_ID_MAX_CHARS))]
    pub course_id: String,
    /// The organization for whose students, and those of the organizations below it, it holds; without one, for all.
    #[schemars(with = "Option<OneLineText>", extend("maxLength" = SOURCED_ID_MAX_CHARS))]
    pub org_sourced_id: Option<String>,
}

impl From<SubjectTrackInput> for Track {
    fn from(input: SubjectTrackInput) -> Self {
        let (subject, course) =
            (input.subject.trim().to_owned(), input.course_id.trim().to_owned());
        let org = input.org_sourced_id.unwrap_or_default().trim().to_owned();
        let grade = input.grade.sent;
        let (subject_value, grade_value) = (subject.to_lowercase(), comparable(&grade));
        let key = format!("{subject_value}\n{grade_value}\n{org}");
        let id = Uuid::new_v5(&NAMESPACE, key.as_bytes()).to_string();
        Self { id, subject, grade, subject_value, grade_value, org, course }
    }
}

/// A subject track with its course and organization.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SubjectTrack {
    /// Its id.
    pub id: String,
    /// Its subject.
    pub subject: String,
    /// Its grade.
    pub grade: String,
    /// The course to which it leads.
    pub course: TrackCourse,
    /// The organization for whose students, and those of the organizations below it, it holds; null, for all.
    pub org: Option<TrackOrg>,
}

/// The course of a track.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackCourse {
    /// Its sourcedId.
    pub sourced_id: String,
    /// Its title.
    pub title: String,
    /// Its metadata; empty if it has none.
    pub metadata: Object,
}

/// The organization of a track.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackOrg {
    /// Its sourcedId.
    pub sourced_id: String,
    /// Its name for people.
    pub name: String,
}

/// The tracks of one subject.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SubjectTrackGroup {
    /// The subject in small letters.
    pub id: String,
    /// The subject.
    pub name: String,
    /// Its tracks by grade.
    pub tracks: Vec<SubjectTrack>,
}

/// Stores a track, and replaces the one with the same subject, grade and organization. Returns the track and whether
/// it is new. [`crate::settle`] enrolls the students whom it leads.
///
/// Errors: `Invalid` for an unknown or deleted course or organization; `Conflict` if there are too many tracks;
/// `Forbidden` if the track holds for students beyond the reach.
pub fn put(tx: &mut Tx<'_>, track: &Track, reach: &Reach) -> Result<(SubjectTrack, bool)> {
    let mut faults = Vec::new();
    require(tx, &COURSE, "courseId", &track.course, reach, &mut faults)?;
    if !track.org.is_empty() {
        require(tx, &ORG, "orgSourcedId", &track.org, reach, &mut faults)?;
    }
    if !faults.is_empty() {
        return Err(Problem::invalid_all(faults));
    }
    check_change(tx, &track.org, reach)?;
    let tracks = repository::tracks(tx)?;
    let key = |one: &Track| (one.subject_value.clone(), one.grade_value.clone(), one.org.clone());
    let former = tracks.iter().find(|other| key(other) == key(track));
    let is_new = former.is_none();
    let id = former.unwrap_or(track).id.clone();
    let track = &Track { id, ..track.clone() };
    if is_new && tracks.len() >= limits::SUBJECT_TRACKS_MAX_RECORDS {
        return Err(Problem::new(
            ProblemKind::Conflict,
            message!(
                "there are {count} subject tracks, which is the limit; delete a track first",
                count = tracks.len()
            ),
        ));
    }
    repository::put_track(tx, track)?;
    let mut shown = to_subject_tracks(tx, vec![track.clone()])?;
    let shown = shown.pop().ok_or_else(|| {
        Problem::internal("the track's course disappeared within the transaction")
    })?;
    Ok((shown, is_new))
}

fn require(
    tx: &mut Tx<'_>,
    kind: &'static lyceum_roster::kind::RecordKind,
    path: &str,
    id: &str,
    reach: &Reach,
    faults: &mut Vec<Detail>,
) -> Result<()> {
    match fields::in_use_within(tx, kind, id, reach) {
        Ok(_) => Ok(()),
        Err(problem) if problem.kind == ProblemKind::NotFound => {
            let message = unknown_reference(kind.one, id);
            faults.push(Detail { path: path.into(), message });
            Ok(())
        }
        Err(problem) => Err(problem),
    }
}

/// Refuses to change a track that holds for students beyond the reach. `org` is its organization; empty, for all.
fn check_change(tx: &mut Tx<'_>, org: &str, reach: &Reach) -> Result<()> {
    if reach.is_limited() && org.is_empty() {
        let message = message!(
            "a track without an organization holds for all students, and your access is limited to {reach}; send an \
             'orgSourcedId' within it"
        );
        return Err(Problem::new(ProblemKind::Forbidden, message));
    }
    reach::check_change(tx, &ORG, org, reach)
}

/// All tracks within the reach, sorted by subject, grade and organization. It needs three statements.
pub fn all(tx: &mut Tx<'_>, reach: &Reach) -> Result<Vec<SubjectTrack>> {
    let tracks = within(tx, reach)?;
    to_subject_tracks(tx, tracks)
}

/// The tracks of organizations within the reach and those for all students, as far as they lead to courses within it.
fn within(tx: &mut Tx<'_>, reach: &Reach) -> Result<Vec<Track>> {
    let tracks = repository::tracks(tx)?;
    let (of_all, mut of_orgs): (Vec<Track>, Vec<Track>) =
        tracks.into_iter().partition(|track| track.org.is_empty());
    keep_within(tx, &ORG, reach, RecordUse::See, &mut of_orgs, |track| &track.org)?;
    let mut tracks = [of_all, of_orgs].concat();
    keep_within(tx, &COURSE, reach, RecordUse::See, &mut tracks, |track| &track.course)?;
    Ok(tracks)
}

/// The tracks of [`all`], grouped by subject.
pub fn groups(tx: &mut Tx<'_>, reach: &Reach) -> Result<Vec<SubjectTrackGroup>> {
    let mut groups: BTreeMap<String, SubjectTrackGroup> = BTreeMap::new();
    for track in all(tx, reach)? {
        let id = track.subject.to_lowercase();
        let group = groups.entry(id.clone()).or_insert_with(|| SubjectTrackGroup {
            id,
            name: track.subject.clone(),
            tracks: Vec::new(),
        });
        group.tracks.push(track);
    }
    Ok(groups.into_values().collect())
}

/// Deletes a track. Enrollments that it made stay. Errors: `NotFound`; `Forbidden` if the track holds for students beyond
/// the reach.
pub fn delete(tx: &mut Tx<'_>, id: &str, reach: &Reach) -> Result<()> {
    let found = within(tx, reach)?.into_iter().find(|track| track.id == id);
    if let Some(track) = found {
        check_change(tx, &track.org, reach)?;
        repository::delete_track(tx, id)?;
        return Ok(());
    }
    Err(Problem::new(
        ProblemKind::NotFound,
        message!("Unknown Object: no subject track with the id '{id}'"),
    ))
}

/// Completes tracks with their course and organization. Tracks whose course was purged are left out.
fn to_subject_tracks(tx: &mut Tx<'_>, mut tracks: Vec<Track>) -> Result<Vec<SubjectTrack>> {
    let courses = fields::of_all(tx, &COURSE, tracks.iter().map(|track| track.course.as_str()))?;
    let orgs = fields::of_all(tx, &ORG, tracks.iter().map(|track| track.org.as_str()))?;
    tracks.sort_by(|a, b| rank(a).cmp(&rank(b)));
    let shown = tracks.into_iter().filter_map(|track| {
        let course = courses.get(&track.course)?;
        Some(SubjectTrack {
            course: TrackCourse {
                sourced_id: track.course,
                title: fields::text(course, "title").to_owned(),
                metadata: fields::metadata(course),
            },
            org: orgs.get(&track.org).map(|org| TrackOrg {
                sourced_id: track.org,
                name: fields::text(org, "name").to_owned(),
            }),
            id: track.id,
            subject: track.subject,
            grade: track.grade,
        })
    });
    Ok(shown.collect())
}

fn rank(track: &Track) -> (&str, Option<i64>, &str, &str) {
    (&track.subject_value, track.grade_value.parse().ok(), &track.grade_value, &track.org)
}
