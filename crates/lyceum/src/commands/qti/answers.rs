//! An item and its responses, as given on the command line.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use lyceum_core::messages::io_reason;
use lyceum_core::random::RandomStream;
use lyceum_qti::model::Item;
use lyceum_qti::value::Cardinality;
use lyceum_qti::{
    Outcomes, ResponseFault, Responses, ScoringInput, Trace, Variant, check, explain, read_item,
    score, variant,
};
use serde_json::{Map, Value};

use super::files;
use crate::failure::{Code, Failure, Result};

#[derive(Args)]
pub(super) struct Answers {
    /// The item file
    #[arg(value_name = "ITEM.xml")]
    item: PathBuf,
    /// Value of a response variable; repeat it for further values of a container
    #[arg(long, value_name = "NAME=VALUE")]
    response: Vec<String>,
    /// File with one or more JSON objects that map response variables to values
    #[arg(long, value_name = "FILE.json", conflicts_with = "response")]
    responses: Option<PathBuf>,
    /// Seed for template variables and random values
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// An item that is ready to be scored.
pub(super) struct Scorer {
    pub(super) item: Item,
    pub(super) variant: Variant,
    random: RandomStream,
}

type ResponseMap = Map<String, Value>;
type ResponsesIterator<'a> = Box<dyn Iterator<Item = Result<ResponseMap>> + 'a>;

impl Answers {
    /// Reads the item and draws its variant.
    pub(super) fn scorer(&self) -> Result<Scorer> {
        let path = self.item.display();
        let item = files::text(&self.item).map_err(Into::into).and_then(|text| read_item(&text));
        let item = item.map_err(|faults| Failure {
            details: faults.0.iter().map(ToString::to_string).collect(),
            ..Failure::failed(format!("'{path}' cannot be scored"))
                .hint(format!("run `lyceum qti validate {path}` to see where"))
        })?;
        let mut random = RandomStream::seeded(self.seed);
        Ok(Scorer { variant: variant(&item, &mut random), item, random })
    }

    /// The responses in order, or one empty response if none is given.
    pub(super) fn each<'a>(&'a self, item: &Item) -> Result<ResponsesIterator<'a>> {
        match &self.responses {
            None => Ok(Box::new(std::iter::once(typed(item, &self.response)))),
            Some(path) => read(path),
        }
    }
}

/// Parses `NAME=VALUE` pairs.
fn typed(item: &Item, texts: &[String]) -> Result<ResponseMap> {
    let mut responses = ResponseMap::new();
    for text in texts {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Failure::new(Code::Usage, format!("--response must be NAME=VALUE: got '{text}'"))
                .hint("write for example --response RESPONSE=A")
        })?;
        let is_record = item
            .response(name)
            .is_some_and(|response| response.declaration.cardinality == Cardinality::Record);
        let value = match is_record {
            false => Value::from(value),
            true => serde_json::from_str(value).map_err(|error| {
                Failure::new(
                    Code::Usage,
                    format!("'{name}' needs a JSON object, because it is a record: {error}"),
                )
                .hint(format!("write for example --response {name}={{\"field\":1}}"))
            })?,
        };
        match responses.get_mut(name) {
            None => {
                responses.insert(name.to_owned(), value);
            }
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    Ok(responses)
}

/// The objects of a file, read one at a time.
fn read(path: &Path) -> Result<ResponsesIterator<'_>> {
    let file = File::open(path).map_err(|error| {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => Code::NotFound,
            _ => Code::Failed,
        };
        Failure::new(code, format!("'{}' cannot be read: {}", path.display(), io_reason(&error)))
            .hint("give a file of JSON objects such as {\"RESPONSE\":\"A\"}")
    })?;
    let objects = serde_json::Deserializer::from_reader(BufReader::new(file)).into_iter();
    Ok(Box::new(objects.map(move |object| {
        object.map_err(|error| {
            Failure::failed(format!("'{}': {error}", path.display()))
                .hint("write one object per line, such as {\"RESPONSE\":\"A\"}")
        })
    })))
}

impl Scorer {
    /// Checks the responses against the item's declarations and interactions.
    pub(super) fn read(&self, values: &ResponseMap) -> Result<(Responses, Vec<String>)> {
        let responses = Responses::from_json(&self.item, values).map_err(|faults| Failure {
            details: faults.iter().map(fault_text).collect(),
            ..Failure::failed("the responses do not fit the item")
        })?;
        let faults = check(&self.item, &responses);
        Ok((responses, faults.iter().map(fault_text).collect()))
    }

    pub(super) fn score(&mut self, responses: &Responses) -> Outcomes {
        let attempt =
            ScoringInput { number: 1, variant: Some(&self.variant), ..ScoringInput::default() };
        score(&self.item, responses, attempt, &mut self.random)
    }

    pub(super) fn explain(&mut self, responses: &Responses) -> (Outcomes, Trace) {
        let attempt =
            ScoringInput { number: 1, variant: Some(&self.variant), ..ScoringInput::default() };
        explain(&self.item, responses, attempt, &mut self.random)
    }
}

fn fault_text(fault: &ResponseFault) -> String {
    format!("{}: {}; {}", fault.identifier, fault.message, fault.remedy)
}
