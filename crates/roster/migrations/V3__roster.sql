-- Older servers must stop: this is the first schema.
-- The records of OneRoster 1.2, a table per kind: the canonical JSON (body, extra) and, beside it, what filters and
-- references look up. A test compares the columns with the declarations. Columns stand before the body so that a scan need not
-- read through it.

CREATE TABLE orgs (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    name TEXT,
    type TEXT,
    identifier TEXT,
    parent_id TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX orgs_modified ON orgs (date_last_modified);
CREATE INDEX orgs_identifier ON orgs (lower(identifier));
CREATE INDEX orgs_parent_id ON orgs (parent_id, seq) WHERE parent_id IS NOT NULL;

CREATE TABLE academic_sessions (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    title TEXT,
    start_date TEXT,
    end_date TEXT,
    type TEXT,
    parent_id TEXT,
    org_id TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX academic_sessions_modified ON academic_sessions (date_last_modified);
CREATE INDEX academic_sessions_parent_id ON academic_sessions (parent_id, seq) WHERE parent_id IS NOT NULL;
CREATE INDEX academic_sessions_org_id ON academic_sessions (org_id, seq) WHERE org_id IS NOT NULL;

CREATE TABLE resources (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    title TEXT,
    vendor_resource_id TEXT,
    vendor_id TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX resources_modified ON resources (date_last_modified);
CREATE INDEX resources_vendor_resource_id ON resources (lower(vendor_resource_id));
CREATE INDEX resources_vendor_id ON resources (lower(vendor_id));
-- The few resources that may be lessons of the types which are looked for in all courses.
CREATE INDEX resources_sought ON resources (seq) WHERE body LIKE '%"test-out"%' OR body LIKE '%"placement"%' OR body LIKE '%"unit-test"%';

CREATE TABLE courses (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    title TEXT,
    school_year_id TEXT,
    course_code TEXT,
    org_id TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX courses_modified ON courses (date_last_modified);
CREATE INDEX courses_school_year_id ON courses (school_year_id, seq) WHERE school_year_id IS NOT NULL;
CREATE INDEX courses_course_code ON courses (lower(course_code));
CREATE INDEX courses_org_id ON courses (org_id, seq) WHERE org_id IS NOT NULL;

CREATE TABLE course_components (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    title TEXT,
    course_id TEXT,
    parent_id TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX course_components_modified ON course_components (date_last_modified);
CREATE INDEX course_components_course_id ON course_components (course_id, seq) WHERE course_id IS NOT NULL;
CREATE INDEX course_components_parent_id ON course_components (parent_id, seq) WHERE parent_id IS NOT NULL;

CREATE TABLE component_resources (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    title TEXT,
    course_component_id TEXT,
    resource_id TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX component_resources_modified ON component_resources (date_last_modified);
CREATE INDEX component_resources_course_component_id ON component_resources (course_component_id, seq) WHERE course_component_id IS NOT NULL;
CREATE INDEX component_resources_resource_id ON component_resources (resource_id, seq) WHERE resource_id IS NOT NULL;
-- Their places in courses.
CREATE INDEX component_resources_sought ON component_resources (seq) WHERE body LIKE '%"test-out"%' OR body LIKE '%"placement"%' OR body LIKE '%"unit-test"%';

CREATE TABLE classes (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    title TEXT,
    class_code TEXT,
    course_id TEXT,
    school_id TEXT,
    org_id TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX classes_modified ON classes (date_last_modified);
CREATE INDEX classes_class_code ON classes (lower(class_code));
CREATE INDEX classes_course_id ON classes (course_id, seq) WHERE course_id IS NOT NULL;
CREATE INDEX classes_school_id ON classes (school_id, seq) WHERE school_id IS NOT NULL;
CREATE INDEX classes_org_id ON classes (org_id, seq) WHERE org_id IS NOT NULL;

CREATE TABLE users (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    username TEXT,
    given_name TEXT,
    family_name TEXT,
    primary_org_id TEXT,
    identifier TEXT,
    email TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX users_modified ON users (date_last_modified);
CREATE INDEX users_username ON users (lower(username));
CREATE INDEX users_primary_org_id ON users (primary_org_id, seq) WHERE primary_org_id IS NOT NULL;
CREATE INDEX users_identifier ON users (lower(identifier));
CREATE INDEX users_email ON users (lower(email));

CREATE TABLE demographics (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX demographics_modified ON demographics (date_last_modified);

-- The days are columns, so that the members of classes are found without parsing JSON.
CREATE TABLE enrollments (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    user_id TEXT,
    class_id TEXT,
    school_id TEXT,
    role TEXT,
    course_id TEXT,
    begin_date TEXT,
    end_date TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX enrollments_modified ON enrollments (date_last_modified);
CREATE INDEX enrollments_user_id ON enrollments (user_id, seq) WHERE user_id IS NOT NULL;
CREATE INDEX enrollments_class_id ON enrollments (class_id, seq) WHERE class_id IS NOT NULL;
CREATE INDEX enrollments_school_id ON enrollments (school_id, seq) WHERE school_id IS NOT NULL;
CREATE INDEX enrollments_course_id ON enrollments (course_id, seq) WHERE course_id IS NOT NULL;
-- The enrollments with a daily goal of their own.
CREATE INDEX enrollments_own_goal ON enrollments (user_id) WHERE body LIKE '%"dailyXp"%';

CREATE TABLE categories (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    title TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX categories_modified ON categories (date_last_modified);

CREATE TABLE score_scales (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    title TEXT,
    course_id TEXT,
    class_id TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX score_scales_modified ON score_scales (date_last_modified);
CREATE INDEX score_scales_course_id ON score_scales (course_id, seq) WHERE course_id IS NOT NULL;
CREATE INDEX score_scales_class_id ON score_scales (class_id, seq) WHERE class_id IS NOT NULL;

CREATE TABLE line_items (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    title TEXT,
    class_id TEXT,
    school_id TEXT,
    category_id TEXT,
    grading_period_id TEXT,
    academic_session_id TEXT,
    score_scale_id TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX line_items_modified ON line_items (date_last_modified);
CREATE INDEX line_items_class_id ON line_items (class_id, seq) WHERE class_id IS NOT NULL;
CREATE INDEX line_items_school_id ON line_items (school_id, seq) WHERE school_id IS NOT NULL;
CREATE INDEX line_items_category_id ON line_items (category_id, seq) WHERE category_id IS NOT NULL;
CREATE INDEX line_items_grading_period_id ON line_items (grading_period_id, seq) WHERE grading_period_id IS NOT NULL;
CREATE INDEX line_items_academic_session_id ON line_items (academic_session_id, seq) WHERE academic_session_id IS NOT NULL;
CREATE INDEX line_items_score_scale_id ON line_items (score_scale_id, seq) WHERE score_scale_id IS NOT NULL;

CREATE TABLE results (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    line_item_id TEXT,
    student_id TEXT,
    class_id TEXT,
    score_scale_id TEXT,
    score_status TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX results_modified ON results (date_last_modified);
CREATE INDEX results_line_item_id ON results (line_item_id, seq) WHERE line_item_id IS NOT NULL;
CREATE INDEX results_student_id ON results (student_id, seq) WHERE student_id IS NOT NULL;
CREATE INDEX results_class_id ON results (class_id, seq) WHERE class_id IS NOT NULL;
CREATE INDEX results_score_scale_id ON results (score_scale_id, seq) WHERE score_scale_id IS NOT NULL;

CREATE TABLE assessment_line_items (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    title TEXT,
    class_id TEXT,
    parent_assessment_line_item_id TEXT,
    score_scale_id TEXT,
    course_id TEXT,
    component_id TEXT,
    component_resource_id TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX assessment_line_items_modified ON assessment_line_items (date_last_modified);
CREATE INDEX assessment_line_items_class_id ON assessment_line_items (class_id, seq) WHERE class_id IS NOT NULL;
CREATE INDEX assessment_line_items_parent_assessment_line_item_id ON assessment_line_items (parent_assessment_line_item_id, seq) WHERE parent_assessment_line_item_id IS NOT NULL;
CREATE INDEX assessment_line_items_score_scale_id ON assessment_line_items (score_scale_id, seq) WHERE score_scale_id IS NOT NULL;
CREATE INDEX assessment_line_items_course_id ON assessment_line_items (course_id, seq) WHERE course_id IS NOT NULL;
CREATE INDEX assessment_line_items_component_id ON assessment_line_items (component_id, seq) WHERE component_id IS NOT NULL;
CREATE INDEX assessment_line_items_component_resource_id ON assessment_line_items (component_resource_id, seq) WHERE component_resource_id IS NOT NULL;

CREATE TABLE assessment_results (
    seq ROWID,
    sourced_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    date_last_modified TEXT NOT NULL,
    version BIGINT NOT NULL,
    assessment_line_item_id TEXT,
    student_id TEXT,
    score_scale_id TEXT,
    score_status TEXT,
    body TEXT NOT NULL,
    extra TEXT
);
CREATE INDEX assessment_results_modified ON assessment_results (date_last_modified);
CREATE INDEX assessment_results_assessment_line_item_id ON assessment_results (assessment_line_item_id, seq) WHERE assessment_line_item_id IS NOT NULL;
CREATE INDEX assessment_results_student_id ON assessment_results (student_id, seq) WHERE student_id IS NOT NULL;
CREATE INDEX assessment_results_score_scale_id ON assessment_results (score_scale_id, seq) WHERE score_scale_id IS NOT NULL;

-- Members of list fields and of references with several values, and the words of names: which record has this value there?
CREATE TABLE roster_link (
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    owner BIGINT NOT NULL,
    PRIMARY KEY (field, value, owner)
) WITHOUT ROWID;

-- Each organization with itself and with every organization above it: which organizations are below a root?
CREATE TABLE roster_org_below (
    root TEXT NOT NULL,
    org TEXT NOT NULL,
    PRIMARY KEY (root, org)
) WITHOUT ROWID;
CREATE INDEX roster_org_below_org ON roster_org_below (org);

-- Credentials of users in other systems. The password is sealed under the master key.
CREATE TABLE user_credentials (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    application TEXT NOT NULL,
    username TEXT NOT NULL,
    sealed BLOB NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX user_credentials_user ON user_credentials (user_id);

-- Imports of rosters that people began in a browser. The file and the rejected rows are blobs, by their SHA-256; instants are
-- texts in UTC of one width. progress: how far the import is, as JSON, written by the server that works on it; NULL if no
-- server does. is_forgotten: 1 if a person was erased while the file was being read, so its files are removed when the reading
-- ends.
CREATE TABLE imports (
    id ROWID,
    name TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    file TEXT NOT NULL,
    who TEXT NOT NULL,
    begun TEXT NOT NULL,
    ended TEXT,
    state TEXT NOT NULL,
    keep_going BIGINT NOT NULL,
    report TEXT,
    rejects TEXT,
    error TEXT,
    progress TEXT,
    is_forgotten BIGINT NOT NULL DEFAULT 0
);
