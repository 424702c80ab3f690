//! Splits a nested course structure into its nodes in one pass. Nesting is not limited, so it does not use recursion,
//! which could overflow the stack.

use std::fmt::Write as _;

use lyceum_core::{Message, Problem, ProblemKind, Result, message, messages};
use serde::de::IgnoredAny;

use crate::limits;
use crate::syllabus::PARTS;

/// An object of the structure, without its parts.
#[derive(Debug)]
pub(super) struct CutObject {
    /// Its role in the body.
    pub(super) slot: ObjectSlot,
    /// Its JSON text, with an empty list for its parts.
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectSlot {
    /// The body itself.
    Body,
    /// The body's `course`.
    Course,
    /// The body's `courseStructure`.
    Structure,
    /// The part `number` of the node `of`.
    Part { of: usize, number: usize },
}

/// Splits the JSON body into nodes. A node comes before its parts.
///
/// Errors: `Malformed` with line and column; `Invalid` for a part that is not an object.
pub(super) fn cut_objects(body: &str) -> Result<Vec<CutObject>> {
    // This check of the whole body does not recurse, and the code below relies on valid JSON.
    serde_json::from_str::<IgnoredAny>(body).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        malformed(message!("the body is not JSON at line {line}, column {column}: {error}"))
    })?;
    if !body.trim_start().starts_with('{') {
        return Err(malformed("the body must be a JSON object".into()));
    }
    let mut cutter = Cutter { nodes: Vec::new(), open: Vec::new() };
    let mut at = 0;
    while at < body.len() {
        at = cutter.step(body, at)?;
    }
    Ok(cutter.nodes)
}

fn malformed(message: Message) -> Problem {
    Problem::new(ProblemKind::Malformed, message)
}

pub(super) fn too_many() -> Problem {
    Problem::new(
        ProblemKind::TooLarge,
        message!(
            "the structure has more than {most} components and component resources; create the rest \
             with /courses/components and /courses/component-resources",
            most = limits::COURSE_MAX_NODES
        ),
    )
}

struct Cutter {
    nodes: Vec<CutObject>,
    open: Vec<OpenScope>,
}

/// The objects and lists that are open at the current place, the innermost last.
enum OpenScope {
    /// A node, and the number of open braces and brackets inside it.
    Node { node: usize, depth: usize },
    /// The list of a node's parts, and the number of parts so far.
    Parts { of: usize, count: usize },
}

impl Cutter {
    /// Reads one token; returns where the next one begins.
    fn step(&mut self, body: &str, at: usize) -> Result<usize> {
        let byte = body.as_bytes()[at];
        match self.open.last_mut() {
            None if byte == b'{' => self.begin(ObjectSlot::Body)?,
            None => {}
            Some(OpenScope::Parts { of, count }) => match byte {
                b'{' => {
                    let slot = ObjectSlot::Part { of: *of, number: *count };
                    *count += 1;
                    self.begin(slot)?;
                }
                b']' => {
                    self.open.pop();
                }
                b',' | b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => {
                    let path = format!("{}.{PARTS}[{count}]", path(&self.nodes, *of));
                    return Err(Problem::invalid(path, messages::MUST_BE_OBJECT));
                }
            },
            Some(OpenScope::Node { node, depth }) => {
                let node = *node;
                let end = if byte == b'"' { string_end(body, at) } else { at + 1 };
                // In JSON, only strings contain multi-byte characters.
                self.nodes[node].text.push_str(&body[at..end]);
                match byte {
                    b'"' if *depth == 0 => return self.member(body, at, end, node),
                    b'{' | b'[' => *depth += 1,
                    b'}' | b']' if *depth > 0 => *depth -= 1,
                    b'}' => {
                        self.open.pop();
                    }
                    _ => {}
                }
                return Ok(end);
            }
        }
        Ok(at + 1)
    }

    fn begin(&mut self, slot: ObjectSlot) -> Result<()> {
        // If a course is sent as a whole syllabus, its parts occur twice.
        if self.nodes.len() > 2 * limits::COURSE_MAX_NODES + 3 {
            return Err(too_many());
        }
        self.open.push(OpenScope::Node { node: self.nodes.len(), depth: 0 });
        self.nodes.push(CutObject { slot, text: "{".into() });
        Ok(())
    }

    /// Called after a string at the top level of a node. If it names a member that is split off, that begins here.
    /// Returns where reading continues.
    fn member(&mut self, body: &str, at: usize, end: usize, node: usize) -> Result<usize> {
        let is_body = self.nodes[node].slot == ObjectSlot::Body;
        let slot = match &body[at + 1..end - 1] {
            PARTS if !is_body => None,
            "course" if is_body => Some(ObjectSlot::Course),
            "courseStructure" if is_body => Some(ObjectSlot::Structure),
            _ => return Ok(end),
        };
        let Some(colon) = next(body, end).filter(|colon| body.as_bytes()[*colon] == b':') else {
            return Ok(end);
        };
        let Some(value) = next(body, colon + 1) else { return Ok(end) };
        match (slot, body.as_bytes()[value]) {
            (Some(slot), b'{') => {
                self.nodes[node].text.push_str(":true");
                self.begin(slot)?;
                Ok(value + 1)
            }
            (None, b'[') => {
                self.nodes[node].text.push_str(":[]");
                self.open.push(OpenScope::Parts { of: node, count: 0 });
                Ok(value + 1)
            }
            _ => Ok(end),
        }
    }
}

/// The position of the next byte other than white space.
fn next(body: &str, from: usize) -> Option<usize> {
    let rest = &body.as_bytes()[from..];
    rest.iter().position(|byte| !byte.is_ascii_whitespace()).map(|offset| from + offset)
}

/// The end of the string that begins at `at`.
fn string_end(body: &str, at: usize) -> usize {
    let bytes = body.as_bytes();
    let mut from = at + 1;
    while let Some(offset) = memchr::memchr2(b'"', b'\\', &bytes[from..]) {
        if bytes[from + offset] == b'"' {
            return from + offset + 1;
        }
        from += offset + 2;
    }
    body.len()
}

/// The place of a node in the body.
pub(super) fn path(nodes: &[CutObject], node: usize) -> String {
    let mut numbers = Vec::new();
    let mut at = node;
    while let ObjectSlot::Part { of, number } = nodes[at].slot {
        numbers.push(number);
        at = of;
    }
    let mut path = match nodes[at].slot {
        ObjectSlot::Course => "course".to_owned(),
        ObjectSlot::Structure => "courseStructure".to_owned(),
        ObjectSlot::Body | ObjectSlot::Part { .. } => String::new(),
    };
    for number in numbers.iter().rev() {
        let _ = write!(path, ".{PARTS}[{number}]");
    }
    path
}
