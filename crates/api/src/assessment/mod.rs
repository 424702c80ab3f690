//! Assessment content (QTI 3): items, tests, stimuli, checks, feedback. Each part is one file with its table of routes.
//! Each path may begin with `/qti` (`lyceum_http::aliases`).

mod banks;
mod documents;
mod feedback;
mod files;
mod headers;
mod items;
mod list;
mod structure;
mod validate;

use lyceum_assessment::ContentKind;
use lyceum_assessment::description::{
    ItemDocument, ItemInput, StimulusDocument, StimulusInput, TestDocument, TestInput,
};
use lyceum_http::render::Rendering;

use crate::{Area, Route};

pub(super) fn areas() -> Vec<Area> {
    let mut of_items = shared(documents::routes::<ItemDocument, ItemInput>(ContentKind::Item));
    of_items.extend(items::routes());
    of_items.extend(shared(files::routes(ContentKind::Item)));
    let mut of_tests = documents::routes::<TestDocument, TestInput>(ContentKind::Test);
    of_tests.extend(structure::routes());
    let mut of_stimuli =
        documents::routes::<StimulusDocument, StimulusInput>(ContentKind::Stimulus);
    of_stimuli.extend(files::routes(ContentKind::Stimulus));
    vec![
        area("items", "/assessment-items", "Questions, and the scoring of answers.", of_items),
        area("tests", "/assessment-tests", "Tests that consist of items.", shared(of_tests)),
        area(
            "banks",
            "/assessment-banks",
            "Variations of tests that take turns.",
            shared(banks::routes()),
        ),
        area("stimuli", "/stimuli", "Texts and pictures that items share.", shared(of_stimuli)),
        area(
            "validation",
            "/validate",
            "Checks of documents that are not stored.",
            validate::routes(),
        ),
        area("lessons", "/lesson", "Feedback on lessons.", feedback::of_lessons()),
        area("questions", "/question", "Feedback on questions.", feedback::of_questions()),
        area("content", "", "Documents of any kind.", vec![documents::delete_any("")]),
        area(
            "qti",
            "/qti",
            "Documents of any kind, below `/qti`.",
            vec![documents::delete_any("Below")],
        ),
    ]
}

/// Assessment content belongs to no organization. The turns of banks belong to users whom the roster need not have, so
/// that no organization limits them.
fn shared(routes: Vec<Route>) -> Vec<Route> {
    routes.into_iter().map(Route::of_shared_content).collect()
}

fn area(
    name: &'static str,
    base: &'static str,
    description: &'static str,
    routes: Vec<Route>,
) -> Area {
    Area { name, base, rendering: Rendering::Qti, description, routes }
}
