//! Tests, parts and sections.

use std::collections::HashSet;

use super::body::feedback;
use super::{DocumentReader, boolean, count, identifier, number, rubric, stylesheets, text, words};
use crate::model::{
    AdaptiveSelection, BranchRule, Expression, Feedback, FeedbackKind, ItemRef, ItemSessionControl,
    Navigation, Ordering, Rubric, Section, SectionMember, SectionRef, Selection, Submission, Test,
    TestPart, TimeLimits, VariableMapping,
};
use crate::xml::Element;

/// Reads a test.
pub(crate) fn test(reader: &mut DocumentReader<'_>, root: Element<'_>) -> Test {
    let test = Test {
        identifier: identifier(root, "identifier"),
        title: identifier(root, "title"),
        version: reader.version,
        contexts: root.all("qti-context-declaration").map(|e| reader.declaration(e)).collect(),
        outcomes: root.all("qti-outcome-declaration").map(|e| reader.outcome(e)).collect(),
        time_limits: time_limits(root),
        stylesheets: stylesheets(root),
        rubrics: rubrics(root),
        parts: root.all("qti-test-part").map(|e| reader.part(e)).collect(),
        outcome_processing: root
            .first("qti-outcome-processing")
            .map(|e| reader.rules(e))
            .unwrap_or_default(),
        feedback: test_feedback(root),
    };
    reader.test_references(root, &test);
    test
}

/// Reads a section.
pub(crate) fn section(reader: &mut DocumentReader<'_>, root: Element<'_>) -> Section {
    let section = reader.section(root);
    reader.unique_members(root);
    section
}

impl DocumentReader<'_> {
    fn part(&mut self, element: Element<'_>) -> TestPart {
        TestPart {
            identifier: identifier(element, "identifier"),
            title: text(element, "title"),
            navigation: match element.attribute("navigation-mode") {
                Some("linear") => Navigation::Linear,
                _ => Navigation::Nonlinear,
            },
            submission: match element.attribute("submission-mode") {
                Some("simultaneous") => Submission::Simultaneous,
                _ => Submission::Individual,
            },
            pre_conditions: self.pre_conditions(element),
            branch_rules: self.branch_rules(element),
            control: control(element),
            time_limits: time_limits(element),
            rubrics: rubrics(element),
            sections: self.members(element),
            feedback: test_feedback(element),
        }
    }

    fn section(&mut self, element: Element<'_>) -> Section {
        let flag = |name: &str, default: bool| boolean(element, name).unwrap_or(default);
        let selection = element.first("qti-selection").map(|e| Selection {
            select: count(e, "select").unwrap_or(0),
            with_replacement: boolean(e, "with-replacement").unwrap_or(false),
        });
        let section = Section {
            identifier: identifier(element, "identifier"),
            title: identifier(element, "title"),
            visible: flag("visible", true),
            required: flag("required", false),
            fixed: flag("fixed", false),
            keep_together: flag("keep-together", true),
            pre_conditions: self.pre_conditions(element),
            branch_rules: self.branch_rules(element),
            control: control(element),
            time_limits: time_limits(element),
            selection,
            ordering: element
                .first("qti-ordering")
                .map(|e| Ordering { shuffle: boolean(e, "shuffle").unwrap_or(false) }),
            adaptive: element.first("qti-adaptive-selection").map(adaptive),
            rubrics: rubrics(element),
            members: self.members(element),
        };
        if let Some(Selection { select, with_replacement: false }) = section.selection
            && select as usize > section.members.len()
        {
            self.found.warning(
                element,
                format!(
                    "{select} members must be selected, but there are only {}",
                    section.members.len()
                ),
                "select fewer, or write with-replacement=\"true\"",
            );
        }
        section
    }

    fn members(&mut self, parent: Element<'_>) -> Vec<SectionMember> {
        let member = |element: Element<'_>| match element.name() {
            "qti-assessment-item-ref" => {
                Some(SectionMember::Item(Box::new(self.item_ref(element))))
            }
            "qti-assessment-section" => {
                Some(SectionMember::Section(Box::new(self.section(element))))
            }
            "qti-assessment-section-ref" => Some(SectionMember::SectionRef(SectionRef {
                identifier: identifier(element, "identifier"),
                href: identifier(element, "href"),
            })),
            _ => None,
        };
        parent.elements().filter_map(member).collect()
    }

    fn item_ref(&mut self, element: Element<'_>) -> ItemRef {
        ItemRef {
            identifier: identifier(element, "identifier"),
            href: identifier(element, "href"),
            categories: words(element, "category"),
            required: boolean(element, "required").unwrap_or(false),
            fixed: boolean(element, "fixed").unwrap_or(false),
            pre_conditions: self.pre_conditions(element),
            branch_rules: self.branch_rules(element),
            control: control(element),
            time_limits: time_limits(element),
            variable_mappings: element
                .all("qti-variable-mapping")
                .map(|e| VariableMapping {
                    source: identifier(e, "source-identifier"),
                    target: identifier(e, "target-identifier"),
                })
                .collect(),
            weights: element
                .all("qti-weight")
                .map(|e| (identifier(e, "identifier"), number(e, "value").unwrap_or(1.0)))
                .collect(),
            template_defaults: element
                .all("qti-template-default")
                .map(|e| (identifier(e, "template-identifier"), self.expression_in(e)))
                .collect(),
        }
    }

    fn pre_conditions(&mut self, parent: Element<'_>) -> Vec<Expression> {
        parent.all("qti-pre-condition").map(|e| self.expression_in(e)).collect()
    }

    fn branch_rules(&mut self, parent: Element<'_>) -> Vec<BranchRule> {
        let rule =
            |e| BranchRule { target: identifier(e, "target"), expression: self.expression_in(e) };
        parent.all("qti-branch-rule").map(rule).collect()
    }

    /// Names in a test: parts, sections and items must differ, branch targets must exist, outcomes
    /// that rules set must be declared.
    fn test_references(&mut self, root: Element<'_>, test: &Test) {
        let names = self.unique_members(root);
        let outcomes: HashSet<&str> =
            test.outcomes.iter().map(|o| &*o.declaration.identifier).collect();
        for element in root.descendants() {
            match (element.name(), element.attribute("target"), element.attribute("identifier")) {
                ("qti-branch-rule", Some(target), _)
                    if !names.contains(target)
                        && !matches!(target, "EXIT_TEST" | "EXIT_TESTPART" | "EXIT_SECTION") =>
                {
                    self.wrong(
                        element,
                        format!("there is no part, section or item '{target}' to branch to"),
                        "write the identifier of one, or EXIT_TEST, EXIT_TESTPART or EXIT_SECTION",
                    );
                }
                ("qti-set-outcome-value" | "qti-lookup-outcome-value", _, Some(name))
                    if !outcomes.contains(name) =>
                {
                    self.wrong(
                        element,
                        format!("there is no outcome variable '{name}'"),
                        "declare it with qti-outcome-declaration",
                    );
                }
                _ => {}
            }
        }
    }

    fn unique_members<'d>(&mut self, root: Element<'d>) -> HashSet<&'d str> {
        let mut names = HashSet::new();
        for element in root.descendants() {
            let is_member = matches!(
                element.name(),
                "qti-test-part"
                    | "qti-assessment-section"
                    | "qti-assessment-section-ref"
                    | "qti-assessment-item-ref"
            );
            let Some(name) = element.attribute("identifier").filter(|_| is_member) else {
                continue;
            };
            if !names.insert(name) {
                self.wrong(
                    element,
                    format!("two parts, sections or items have the identifier '{name}'"),
                    "give each its own identifier",
                );
            }
        }
        names
    }
}

fn rubrics(parent: Element<'_>) -> Vec<Rubric> {
    parent.all("qti-rubric-block").map(rubric).collect()
}

fn test_feedback(parent: Element<'_>) -> Vec<Feedback> {
    let read = |element: Element<'_>| {
        let at_end = element.attribute("access") == Some("atEnd");
        feedback(element, FeedbackKind::Test { at_end })
    };
    parent.all("qti-test-feedback").map(read).collect()
}

fn time_limits(parent: Element<'_>) -> Option<TimeLimits> {
    parent.first("qti-time-limits").map(|element| TimeLimits {
        min: number(element, "min-time"),
        max: number(element, "max-time"),
        allow_late: boolean(element, "allow-late-submission").unwrap_or(false),
    })
}

fn control(parent: Element<'_>) -> Option<ItemSessionControl> {
    parent.first("qti-item-session-control").map(|element| ItemSessionControl {
        max_attempts: count(element, "max-attempts"),
        show_feedback: boolean(element, "show-feedback"),
        allow_review: boolean(element, "allow-review"),
        show_solution: boolean(element, "show-solution"),
        allow_comment: boolean(element, "allow-comment"),
        allow_skipping: boolean(element, "allow-skipping"),
        validate_responses: boolean(element, "validate-responses"),
    })
}

fn adaptive(element: Element<'_>) -> AdaptiveSelection {
    let href = |name: &str| element.first(name).map(|e| identifier(e, "href"));
    AdaptiveSelection {
        engine: href("qti-adaptive-engine-ref").unwrap_or_default(),
        settings: href("qti-adaptive-settings-ref"),
        usage_data: href("qti-usagedata-ref"),
        metadata: href("qti-metadata-ref"),
    }
}
