//! Errors of a bucket, with the codes that R2's client knows.

use hyper::StatusCode;
use hyper::header::HeaderName;
use lyceum_core::Problem;
use serde_json::json;

use super::R2Object;
use crate::bindings::answer::Answer;

const ERROR: HeaderName = HeaderName::from_static("cf-r2-error");

/// A refusal.
pub(crate) enum R2Fault {
    NoSuchKey,
    TooLarge,
    PartTooSmall,
    MetadataTooLarge,
    BadName,
    BadLimit,
    NoSuchUpload,
    NoSuchPart,
    BadRequest(String),
    /// The condition does not hold. A `get` still returns the object's metadata.
    Condition(Option<Box<R2Object>>),
    BadDigest {
        name: &'static str,
        given: String,
        found: String,
    },
    BadRange,
    UnevenParts,
    /// The bucket is full; its limit in bytes.
    Full(u64),
    Internal(Problem),
}

impl From<Problem> for R2Fault {
    fn from(problem: Problem) -> Self {
        Self::Internal(problem)
    }
}

impl From<R2Fault> for Answer {
    fn from(fault: R2Fault) -> Self {
        let (status, code, message) = match &fault {
            R2Fault::NoSuchKey => (404, 10007, "The specified key does not exist.".to_owned()),
            R2Fault::TooLarge => (
                400,
                100_100,
                "Your proposed upload exceeds the maximum allowed object size.".to_owned(),
            ),
            R2Fault::PartTooSmall => (
                400,
                10011,
                "Your proposed upload is smaller than the minimum allowed object size.".to_owned(),
            ),
            R2Fault::MetadataTooLarge => (
                400,
                10012,
                "Your metadata headers exceed the maximum allowed metadata size.".to_owned(),
            ),
            R2Fault::BadName => (400, 10020, "The specified object name is not valid.".to_owned()),
            R2Fault::BadLimit => {
                (400, 10022, "MaxKeys params must be positive integer <= 1000.".to_owned())
            }
            R2Fault::NoSuchUpload => {
                (400, 10024, "The specified multipart upload does not exist.".to_owned())
            }
            R2Fault::NoSuchPart => {
                (400, 10025, "One or more of the specified parts could not be found.".to_owned())
            }
            R2Fault::BadRequest(what) => (400, 10029, what.clone()),
            R2Fault::Condition(_) => (
                412,
                10031,
                "At least one of the pre-conditions you specified did not hold.".to_owned(),
            ),
            R2Fault::BadDigest { name, given, found } => (
                400,
                10037,
                format!(
                    "The {name} checksum you specified did not match what we received.\n\
                     You provided a {name} checksum with value: {given}\nActual {name} was: {found}"
                ),
            ),
            R2Fault::BadRange => (416, 10039, "The requested range is not satisfiable".to_owned()),
            R2Fault::UnevenParts => {
                (500, 10048, "There was a problem with the multipart upload.".to_owned())
            }
            R2Fault::Full(most) => {
                (400, 100_100, format!("The bucket is full: it may have {most} bytes."))
            }
            R2Fault::Internal(problem) => {
                tracing::error!("a bucket failed: {problem}");
                (500, 10001, "We encountered an internal error. Please try again.".to_owned())
            }
        };
        let error = json!({ "version": 1, "v4code": code, "message": message }).to_string();
        let answer = match fault {
            R2Fault::Condition(Some(object)) => {
                super::json_answer(&object.to_json(Some((0, object.size))), None)
            }
            _ => Answer::empty(),
        };
        let status = StatusCode::from_u16(status).expect("a status of the list above");
        answer.status(status).with(ERROR, &error)
    }
}
