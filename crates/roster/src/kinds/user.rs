//! Users.

use super::prelude::*;
use crate::rules::{user, values};

/// A person: student, teacher, guardian, administrator (OneRoster 1.2, User).
pub const USER: RecordKind = RecordKind {
    one: "user",
    many: "users",
    table: "users",
    path: "users",
    service: Service::Rostering,
    doc: "A person such as a student, teacher, guardian or administrator.",
    organization: OrganizationPath::Roles,
    fields: &[
        text("userMasterIdentifier").doc("The person's number over all systems."),
        text("username").indexed().searched().doc("The name that the person signs in with."),
        field("userIds", FieldType::Objects(USER_IDS))
            .doc("Numbers of the person in other systems."),
        flag("enabledUser").required().doc("Whether the person may use the system."),
        text("givenName").required().searched().doc("First name."),
        text("familyName").required().searched().doc("Last name."),
        text("middleName").doc("Middle names."),
        text("preferredFirstName").doc("The first name that the person wants to be called by."),
        text("preferredMiddleName").doc("The middle name that the person wants to be called by."),
        text("preferredLastName").doc("The last name that the person wants to be called by."),
        text("pronouns").doc("The person's pronouns."),
        field("roles", FieldType::Objects(ROLES))
            .required()
            .doc("The person's roles and their organizations."),
        field("userProfiles", FieldType::Objects(PROFILES)).doc("Accounts in other systems."),
        reference("primaryOrg", "org").doc("The organization that the person mainly belongs to."),
        text("identifier").indexed().searched().doc("The person's number in the school."),
        text("email").indexed().searched().doc("Email address."),
        text("sms").doc("Number for text messages."),
        text("phone").doc("Telephone number."),
        references("agents", "user").doc("Guardians and others who act for the person."),
        field("grades", FieldType::Grades).indexed().doc("The grades that the person is in."),
        field("password", FieldType::Secret).doc("Accepted, but never stored or returned."),
        references("resources", "resource").doc("The materials that the person uses."),
    ],
    rules: KindRules {
        check_values: Some(values::role_dates),
        links: Some(user::links),
        ..KindRules::NONE
    },
};

const USER_IDS: &[Field] = &[text("type").required(), text("identifier").required().indexed()];

const ROLES: &[Field] = &[
    word("roleType", closed_vocabulary(&["primary", "secondary"])).required(),
    word("role", USER_ROLES).required().indexed(),
    reference("org", "org").required(),
    field("userProfile", FieldType::Uri),
    field("beginDate", FieldType::Date),
    field("endDate", FieldType::Date),
];

const USER_ROLES: Vocabulary = open(&[
    "aide",
    "counselor",
    "districtAdministrator",
    "guardian",
    "parent",
    "principal",
    "proctor",
    "relative",
    "siteAdministrator",
    "student",
    "systemAdministrator",
    "teacher",
]);

const PROFILES: &[Field] = &[
    field("profileId", FieldType::Uri).required(),
    text("profileType").required(),
    text("vendorId").required(),
    text("applicationId"),
    text("description"),
    field("credentials", FieldType::Objects(CREDENTIALS)),
];

const CREDENTIALS: &[Field] =
    &[text("type").required(), text("username").required(), field("password", FieldType::Secret)];
