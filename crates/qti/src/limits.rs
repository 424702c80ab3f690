//! The limits of this crate, each with its unit.

// # Questions and lessons

/// Bytes of one QTI document at most.
pub const QTI_DOCUMENT_MAX_BYTES: usize = 4 * 1024 * 1024;

// # Internal

/// Levels of nested elements in a QTI document at most.
pub const QTI_DEPTH_MAX_LEVELS: usize = 100;
/// Elements and texts of one QTI document at most.
pub const QTI_MAX_NODES: usize = 200_000;
/// Attributes of one element of a QTI document at most.
pub const QTI_ATTRIBUTES_MAX_COUNT: usize = 100;
/// Errors of a QTI document that are reported at most.
pub const QTI_MAX_FAULTS: usize = 100;
/// Bytes that one compiled pattern of a QTI item takes at most.
pub const QTI_PATTERN_MAX_BYTES: usize = 1024 * 1024;
/// Characters, and digits behind the point, to which a format fills a printed number at most; a format with more is
/// ignored.
pub const QTI_FORMAT_MAX_COUNT: usize = 100;
/// Steps of one response processing at most; further expressions are NULL.
pub const QTI_STEPS_MAX_COUNT: usize = 100_000;
/// Values of one container while an item is scored at most; a larger one is NULL.
pub const QTI_CONTAINER_MAX_VALUES: usize = 2000;
/// Bytes of one text while an item is scored at most; a longer one is refused.
pub const QTI_RESPONSE_MAX_BYTES: usize = 1024 * 1024;
/// Steps of a trace of processing that are kept at most.
pub const QTI_TRACE_MAX_ENTRIES: usize = 10_000;
/// Times that template processing starts over for a constraint at most.
pub const QTI_TEMPLATE_MAX_ATTEMPTS: usize = 100;
/// Elements that a browser draws again in the drawings of one document at most, because a `use`, a pattern, a mask or a
/// marker repeats them; further repetitions are left out.
pub const DRAWING_REPEATED_MAX_COUNT: usize = 10_000;
