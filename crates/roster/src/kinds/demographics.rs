//! Demographics.

use super::prelude::*;

/// Facts about a person that only few may read (OneRoster 1.2, Demographics).
pub const DEMOGRAPHICS: RecordKind = RecordKind {
    one: "demographics",
    many: "demographics",
    table: "demographics",
    path: "demographics",
    service: Service::Rostering,
    doc: "Demographic data of a user, for clients with a special scope; the sourcedId is the \
          user's.",
    organization: OrganizationPath::UserOfSameId,
    fields: &[
        field("birthDate", FieldType::Date).doc("Date of birth."),
        word("sex", open(&["male", "female", "unspecified", "other"])).doc("Sex as registered."),
        flag("americanIndianOrAlaskaNative").doc("Race, as the person says."),
        flag("asian").doc("Race, as the person says."),
        flag("blackOrAfricanAmerican").doc("Race, as the person says."),
        flag("nativeHawaiianOrOtherPacificIslander").doc("Race, as the person says."),
        flag("white").doc("Race, as the person says."),
        flag("demographicRaceTwoOrMoreRaces").doc("Race, as the person says."),
        flag("hispanicOrLatinoEthnicity").doc("Ethnicity, as the person says."),
        text("countryOfBirthCode").doc("Country of birth."),
        text("stateOfBirthAbbreviation").doc("State of birth."),
        text("cityOfBirth").doc("City of birth."),
        text("publicSchoolResidenceStatus").doc("Where the person lives, seen from the school."),
    ],
    rules: KindRules { shares_id_with: Some("user"), ..KindRules::NONE },
};
