//! Assessment content (QTI 3): items, tests, stimuli, checks, feedback. One file a part, each with a
//! table. `/qti` may stand before every path (`crate::aliases`).

mod banks;
mod documents;
mod feedback;
mod items;
mod list;
mod schema;
mod structure;
mod test_schema;
mod validate;

pub(crate) use schema::components;

use lyceum_assessment::Kind;

use crate::render::Rendering;
use crate::route::{Area, Route};

pub(super) fn areas() -> Vec<Area> {
    let mut of_items = documents::routes(Kind::Item);
    of_items.extend(items::routes());
    let mut of_tests = documents::routes(Kind::Test);
    of_tests.extend(structure::routes());
    vec![
        area("items", "/assessment-items", "Questions, and their answers scored.", of_items),
        area("tests", "/assessment-tests", "Tests made of items.", of_tests),
        area("banks", "/assessment-banks", "Tests that take turns.", banks::routes()),
        area("stimuli", "/stimuli", "What items share.", documents::routes(Kind::Stimulus)),
        area("validation", "/validate", "Documents checked, not stored.", validate::routes()),
        area("lessons", "/lesson", "Feedback on lessons.", feedback::of_lessons()),
        area("questions", "/question", "Feedback on questions.", feedback::of_questions()),
        area("content", "", "Content whatever it is.", vec![documents::delete_any("")]),
        area("qti", "/qti", "The same below `/qti`.", vec![documents::delete_any("Below")]),
    ]
}

fn area(
    name: &'static str,
    base: &'static str,
    description: &'static str,
    routes: Vec<Route>,
) -> Area {
    Area { name, base, rendering: Rendering::Qti, description, routes }
}
