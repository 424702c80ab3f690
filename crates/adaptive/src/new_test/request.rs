//! The request for a test.

use lyceum_assessment::limits::BANK_TESTS_MAX_COUNT;
use lyceum_core::body::OneLineText;
use lyceum_core::{Detail, Message, Problem, Result, message, messages};
use lyceum_roster::grade::Grade;
use lyceum_roster::limits;
use lyceum_roster::record::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LessonType;
use crate::render_config::{ADDRESS, is_address};

/// A request for a test.
#[derive(Clone, Debug)]
pub struct NewTest {
    pub(super) course: String,
    pub(super) lesson_type: LessonType,
    pub(super) lesson_title: Option<String>,
    pub(super) unit_title: Option<String>,
    pub(super) component: Option<String>,
    pub(super) metadata: Object,
    pub(super) xp: Option<f64>,
    pub(super) grades: Option<Vec<String>>,
    pub(super) course_on_fail: Option<String>,
    pub(super) content: TestContent,
}

#[derive(Clone, Debug)]
pub(super) enum TestContent {
    Qti(TestLink),
    Bank(Vec<TestLink>),
    External {
        tool: Tool,
        launch_url: Option<String>,
        vendor_id: Option<String>,
        description: Option<String>,
    },
}

/// The address of a test.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(super) struct TestLink {
    /// The address of the test.
    #[schemars(with = "OneLineText", extend("pattern" = r"^https?://[^\s]+$"))]
    pub(super) url: String,
    /// The title of its resource.
    #[schemars(with = "Option<OneLineText>")]
    pub(super) title: Option<String>,
    /// The metadata of its resource.
    pub(super) metadata: Option<Object>,
}

/// The members that all requests for tests have.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct CommonTestFields {
    /// The course's sourcedId.
    #[schemars(with = "OneLineText")]
    course_id: String,
    /// The title of the lesson.
    #[schemars(with = "Option<OneLineText>")]
    lesson_title: Option<String>,
    /// The title of the new component.
    #[schemars(with = "Option<OneLineText>")]
    unit_title: Option<String>,
    /// The component for the lesson, instead of a new one.
    #[schemars(with = "Option<OneLineText>")]
    course_component_sourced_id: Option<String>,
    /// The metadata of the resource.
    resource_metadata: Option<Object>,
    /// The course in which students who fail are enrolled.
    #[schemars(with = "Option<OneLineText>")]
    course_id_on_fail: Option<String>,
}

/// A test that students take on this server.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InternalTest {
    #[serde(flatten)]
    shared: CommonTestFields,
    /// The type of the lesson.
    lesson_type: LessonType,
    /// The source of its questions.
    test_type: TestType,
    /// The test, of the type qti.
    qti: Option<TestLink>,
    /// The tests that take turns, of the type assessment-bank.
    assessment_bank: Option<LinkedBank>,
    /// The XP that it is worth.
    #[schemars(range(min = 0))]
    xp: Option<f64>,
    /// The grades that it tests.
    #[schemars(length(min = 1, max = limits::LIST_MAX_MEMBERS))]
    grades: Option<Vec<Grade>>,
}

/// The source of the questions of a test on this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum TestType {
    /// A stored test.
    Qti,
    /// Stored tests that take turns.
    AssessmentBank,
}

/// The tests that take turns.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
struct LinkedBank {
    /// The tests.
    #[schemars(length(min = 1, max = BANK_TESTS_MAX_COUNT))]
    resources: Vec<TestLink>,
}

/// A test that is taken at an outside tool. `X` is the type of its XP, which may be missing or not.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ExternalTest<X> {
    #[serde(flatten)]
    shared: CommonTestFields,
    /// The type of the lesson; optional.
    lesson_type: Option<String>,
    /// The outside tool.
    tool_provider: Tool,
    /// The address of the tool.
    #[schemars(with = "Option<OneLineText>", extend("pattern" = r"^https?://[^\s]+$"))]
    launch_url: Option<String>,
    /// The tool's id of the test.
    #[schemars(with = "Option<OneLineText>")]
    vendor_id: Option<String>,
    /// Its subject.
    #[schemars(with = "Option<OneLineText>")]
    description: Option<String>,
    /// The XP that it is worth.
    #[schemars(range(min = 0))]
    xp: X,
    /// The grades that it tests.
    #[schemars(length(min = 1, max = limits::LIST_MAX_MEMBERS))]
    grades: Vec<Grade>,
}

/// An outside tool that tests are taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Tool {
    /// The tool Edulastic.
    Edulastic,
    /// The tool Mastery Track.
    MasteryTrack,
}

impl Tool {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Edulastic => "edulastic",
            Self::MasteryTrack => "mastery-track",
        }
    }
}

impl NewTest {
    /// A test that is taken here. Errors: `Invalid`, with every fault and its path.
    pub fn internal(test: InternalTest) -> Result<Self> {
        let mut faults = Vec::new();
        let mut fault = |path: String, message: Message| faults.push(Detail { path, message });
        let (kind, own, other, is_other) = match test.test_type {
            TestType::Qti => ("qti", "qti", "assessmentBank", test.assessment_bank.is_some()),
            TestType::AssessmentBank => {
                ("assessment-bank", "assessmentBank", "qti", test.qti.is_some())
            }
        };
        if is_other {
            fault(other.to_owned(), message!("must not be there where testType is '{kind}'"));
        }
        let content = match test.test_type {
            TestType::Qti => test.qti.map(TestContent::Qti),
            TestType::AssessmentBank => {
                test.assessment_bank.map(|bank| TestContent::Bank(bank.resources))
            }
        };
        match &content {
            None => fault(own.to_owned(), messages::required("an object")),
            Some(TestContent::Qti(link)) if !is_address(&link.url) => {
                fault("qti.url".into(), ADDRESS.into());
            }
            Some(TestContent::Bank(links)) => {
                let wrong = links.iter().enumerate().filter(|(_, link)| !is_address(&link.url));
                for (at, _) in wrong {
                    fault(format!("assessmentBank.resources[{at}].url"), ADDRESS.into());
                }
            }
            Some(_) => {}
        }
        match content {
            Some(content) if faults.is_empty() => {
                Ok(Self::of(test.shared, test.lesson_type, content, test.xp, test.grades))
            }
            _ => Err(Problem::invalid_all(faults)),
        }
    }

    /// A test that is taken at an outside tool. Errors: `Invalid`, with every fault and its path.
    pub fn external<X: Into<Option<f64>>>(
        test: ExternalTest<X>,
        lesson_type: LessonType,
    ) -> Result<Self> {
        let mut faults = Vec::new();
        let mut fault = |path: &str, message: Message| {
            faults.push(Detail { path: path.to_owned(), message });
        };
        if let Some(named) = test.lesson_type.filter(|named| named != lesson_type.name()) {
            fault("lessonType", messages::must_be_one_of(&[lesson_type.name()], &named));
        }
        if test.launch_url.as_deref().is_some_and(|url| !is_address(url)) {
            fault("launchUrl", ADDRESS.into());
        }
        if !faults.is_empty() {
            return Err(Problem::invalid_all(faults));
        }
        let content = TestContent::External {
            tool: test.tool_provider,
            launch_url: test.launch_url,
            vendor_id: test.vendor_id,
            description: test.description,
        };
        Ok(Self::of(test.shared, lesson_type, content, test.xp.into(), Some(test.grades)))
    }

    fn of(
        shared: CommonTestFields,
        lesson_type: LessonType,
        content: TestContent,
        xp: Option<f64>,
        grades: Option<Vec<Grade>>,
    ) -> Self {
        let stored = |grades: Vec<Grade>| grades.into_iter().map(|grade| grade.stored).collect();
        Self {
            course: shared.course_id,
            lesson_type,
            lesson_title: shared.lesson_title,
            unit_title: shared.unit_title,
            component: shared.course_component_sourced_id,
            metadata: shared.resource_metadata.unwrap_or_default(),
            xp,
            grades: grades.map(stored),
            course_on_fail: shared.course_id_on_fail,
            content,
        }
    }
}
