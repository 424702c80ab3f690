//! Where the server stores data about a person: every table of the database, how its rows refer to a person, and what an
//! erasure does with them. A test fails if a table is missing here.

/// How the rows of a table refer to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// Not at all, except in the texts of [`Table::mentions`].
    None,
    /// A column among these holds an id or e-mail address of the person.
    Column(&'static [&'static str]),
    /// The column refers to a row of another table that belongs to the person.
    Through {
        /// The column.
        column: &'static str,
        /// The other table.
        table: &'static str,
        /// The column of the other table.
        key: &'static str,
    },
    /// A function of the table's crate finds them.
    Crate,
}

/// The treatment of the rows of a person in an erasure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// They stay, because they do not name the person.
    Keep,
    /// They are deleted, because they only say something about the person.
    Delete,
    /// They stay for the sake of totals: the pseudonym replaces the person, and these columns get these values.
    Pseudonymise(&'static [(&'static str, &'static str)]),
    /// A function of the table's crate changes them.
    Crate,
}

/// A table of the database.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The part of the server that it belongs to; the name of a folder in exports.
    pub area: &'static str,
    /// How its rows refer to a person.
    pub person: Reference,
    /// The treatment of the rows of the person in an erasure.
    pub treatment: Treatment,
    /// Text columns in which rows of others may contain a string of the person.
    pub mentions: &'static [&'static str],
}

use Reference::{Column, Through};
use Treatment::{Delete, Keep, Pseudonymise};

const fn table(
    area: &'static str,
    name: &'static str,
    person: Reference,
    treatment: Treatment,
) -> Table {
    Table { name, area, person, treatment, mentions: &[] }
}

/// A table whose rows do not belong to persons.
const fn impersonal(area: &'static str, name: &'static str) -> Table {
    table(area, name, Reference::None, Keep)
}

/// A table that functions of its crate export and erase.
const fn by_crate(area: &'static str, name: &'static str) -> Table {
    table(area, name, Reference::Crate, Treatment::Crate)
}

impl Table {
    const fn mentions(self, mentions: &'static [&'static str]) -> Self {
        Self { mentions, ..self }
    }
}

const USER: Reference = Column(&["user_id"]);
const STUDENT: Reference = Column(&["student_id"]);
const PERSON: Reference = Column(&["person"]);

/// All tables.
pub const TABLES: &[Table] = &[
    // Store. A job's payload names what it is about; jobs of one kind are not of one person.
    impersonal("store", "refinery_schema_history"),
    impersonal("store", "tally"),
    impersonal("store", "jobs").mentions(&["payload", "error"]),
    impersonal("store", "job_tries").mentions(&["error"]),
    impersonal("store", "outbox").mentions(&["object", "data"]),
    impersonal("store", "outbox_topics"),
    // An id stays until a purge, so that readers of changes learn that it is gone.
    impersonal("store", "record_clock"),
    impersonal("store", "removed_records").mentions(&["id"]),
    // Access. The audit log stays complete; only the name in it is replaced.
    impersonal("access", "access_counter"),
    impersonal("access", "clients").mentions(&["name"]),
    impersonal("access", "client_secrets"),
    impersonal("access", "client_signing_secrets"),
    impersonal("access", "signed_request_nonces"),
    impersonal("access", "client_uses"),
    impersonal("access", "signing_keys"),
    impersonal("access", "derivation_key"),
    impersonal("access", "server_address"),
    // Hashes that are deleted within a day.
    impersonal("access", "guesses"),
    table("access", "sessions", PERSON, Delete),
    table("access", "device_codes", PERSON, Delete),
    table("access", "sign_in_links", PERSON, Delete),
    table("access", "person_identities", PERSON, Delete),
    table("access", "project_members", PERSON, Delete),
    table("access", "class_secrets", PERSON, Delete),
    table("access", "class_sign_ins", Column(&["opened_by"]), Delete),
    table("access", "api_keys", Column(&["maker"]), Pseudonymise(&[])).mentions(&["name"]),
    table("access", "people", Column(&["id", "email", "roster_user"]), Delete),
    table("access", "audit_log", Column(&["who", "subject"]), Pseudonymise(&[]))
        .mentions(&["details"]),
    // Roster. Records of the person stay under the pseudonym.
    table("roster", "users", Column(&["sourced_id"]), Treatment::Crate),
    table("roster", "demographics", Column(&["sourced_id"]), Treatment::Crate),
    table("roster", "enrollments", Column(&["user_id"]), Treatment::Crate),
    table("roster", "results", Column(&["student_id"]), Treatment::Crate),
    table("roster", "assessment_results", Column(&["student_id"]), Treatment::Crate),
    impersonal("roster", "roster_org_below"),
    impersonal("roster", "roster_imported"),
    by_crate("roster", "orgs"),
    by_crate("roster", "academic_sessions"),
    by_crate("roster", "resources"),
    by_crate("roster", "courses"),
    by_crate("roster", "course_components"),
    by_crate("roster", "component_resources"),
    by_crate("roster", "classes"),
    by_crate("roster", "categories"),
    by_crate("roster", "score_scales"),
    by_crate("roster", "line_items"),
    by_crate("roster", "assessment_line_items"),
    by_crate("roster", "roster_link"),
    table("roster", "user_credentials", USER, Delete),
    table("roster", "imports", Column(&["who"]), Pseudonymise(&[]))
        .mentions(&["name", "report", "error"]),
    // Events. Facts name actors by number.
    impersonal("events", "event_sources"),
    by_crate("events", "event_actors"),
    by_crate("events", "event_log"),
    by_crate("events", "event_blocks"),
    by_crate("events", "event_entities"),
    by_crate("events", "event_refusals"),
    // Hashes and numbers.
    impersonal("events", "event_ids"),
    impersonal("events", "event_versions"),
    impersonal("events", "event_batches"),
    impersonal("events", "event_unsummed"),
    impersonal("events", "event_runs"),
    impersonal("events", "event_id_chunks"),
    impersonal("events", "event_sums"),
    impersonal("events", "event_places"),
    impersonal("events", "event_spans"),
    // Names of courses, subjects and apps; the number of a context is a hash of them.
    impersonal("events", "event_contexts"),
    impersonal("bridge", "school_hours"),
    impersonal("bridge", "subject_track"),
    table("bridge", "subject_track_led", USER, Delete),
    // Assessment.
    impersonal("assessment", "qti_document"),
    impersonal("assessment", "qti_version"),
    impersonal("assessment", "qti_reference"),
    impersonal("assessment", "qti_file"),
    impersonal("assessment", "assessment_bank"),
    table("assessment", "assessment_bank_turn", USER, Pseudonymise(&[])),
    table("assessment", "assessment_feedback", USER, Delete).mentions(&["feedback"]),
    // Lessons. Scores stay; answers are the person's own texts. A seed is a hash of the student's id, and 0 says that it
    // was erased.
    impersonal("lessons", "lesson_policy"),
    impersonal("lessons", "lesson_bank"),
    impersonal("lessons", "render_config"),
    table(
        "lessons",
        "lesson_question",
        Through { column: "attempt", table: "lesson_attempt", key: "id" },
        Pseudonymise(&[("responses", "'{}'"), ("result", "'{}'")]),
    ),
    table(
        "lessons",
        "lesson_answer_request",
        Through { column: "attempt", table: "lesson_attempt", key: "id" },
        Delete,
    ),
    table("lessons", "lesson_attempt", Column(&["student"]), Pseudonymise(&[("seed", "0")])),
    table(
        "lessons",
        "lesson_plan_operation",
        Through { column: "plan_id", table: "lesson_plan", key: "id" },
        Delete,
    )
    .mentions(&["operation", "reason", "created_by"]),
    table("lessons", "lesson_plan", USER, Delete).mentions(&["tree"]),
    table("lessons", "extra_time", Column(&["student"]), Delete),
    table("lessons", "external_assignment", STUDENT, Pseudonymise(&[])),
    table("lessons", "test_assignment", STUDENT, Pseudonymise(&[])),
    table("lessons", "screening_session", USER, Delete),
    table("lessons", "screening_test", USER, Delete),
    // Credentials. What stays of one that was issued says only that it is revoked.
    impersonal("credentials", "credential_issuers"),
    impersonal("credentials", "credential_keys"),
    impersonal("credentials", "badge_definitions"),
    impersonal("credentials", "status_lists"),
    table("credentials", "issued_credentials", Column(&["learner"]), Treatment::Crate),
    table("credentials", "learner_records", Column(&["learner", "compiled_for"]), Treatment::Crate),
    table(
        "credentials",
        "learner_record_versions",
        Through { column: "record", table: "learner_records", key: "seq" },
        Treatment::Crate,
    ),
    impersonal("credentials", "learner_record_places"),
    // Standards.
    impersonal("standards", "case_document"),
    impersonal("standards", "case_item"),
    impersonal("standards", "case_association"),
    impersonal("standards", "case_definition"),
    impersonal("standards", "case_word"),
    impersonal("standards", "case_alignment"),
    // Games. Scores and ranks stay.
    impersonal("games", "games"),
    impersonal("games", "game_items"),
    impersonal("games", "game_levels"),
    impersonal("games", "game_achievements"),
    impersonal("games", "lms_courses"),
    impersonal("games", "lms_records"),
    table("games", "game_players", USER, Pseudonymise(&[])),
    table("games", "game_inventory", USER, Pseudonymise(&[])),
    table("games", "game_scores", USER, Pseudonymise(&[("metadata", "'{}'")])),
    table("games", "game_bests", USER, Pseudonymise(&[])),
    table("games", "game_sessions", USER, Pseudonymise(&[])),
    table("games", "game_states", USER, Delete),
    table("games", "game_progress", USER, Pseudonymise(&[])),
    table("games", "game_notifications", USER, Delete).mentions(&["title", "message", "metadata"]),
    table("games", "game_keyed_requests", USER, Delete).mentions(&["request", "answer"]),
    table("games", "game_demo_scores", USER, Pseudonymise(&[("metadata", "'{}'")])),
    table("games", "game_demo_bests", USER, Pseudonymise(&[])),
    table("games", "lms_activities", USER, Pseudonymise(&[])),
    table("games", "lms_mastery", USER, Pseudonymise(&[])),
    table("games", "game_visitors", Column(&["id", "person_id", "email"]), Delete),
    // Projects. Their own data is only searched, because its owner decides about it.
    impersonal("projects", "projects"),
    impersonal("projects", "deleted_projects"),
    impersonal("projects", "project_frontends"),
    table("projects", "deployments", Column(&["made_by"]), Pseudonymise(&[])),
    table("projects", "class_apps", Column(&["approved_by"]), Pseudonymise(&[])),
    impersonal("projects", "deployment_secrets"),
    table("projects", "project_audit", Column(&["who"]), Pseudonymise(&[])).mentions(&["details"]),
    impersonal("projects", "project_restore_points"),
    impersonal("projects", "nodes"),
    impersonal("projects", "installations"),
    impersonal("projects", "installation_marks"),
    impersonal("projects", "backups"),
    impersonal("projects", "project_homes"),
    // Webhooks. Messages that wait are sent with the pseudonym.
    impersonal("webhooks", "webhooks").mentions(&["name", "description"]),
    impersonal("webhooks", "webhook_filters").mentions(&["filter_value"]),
    impersonal("webhooks", "webhook_sender"),
    impersonal("webhooks", "webhook_messages").mentions(&["object", "body"]),
    impersonal("webhooks", "webhook_deliveries").mentions(&["object", "error"]),
    // Erasures. The person's strings are sealed under the master key and deleted at the end.
    impersonal("erasure", "erasures").mentions(&["asked_by"]),
    impersonal("erasure", "erased_ids"),
];
