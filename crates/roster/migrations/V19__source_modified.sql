-- When a record changed in the system that it was imported from; NULL if it changed here.
ALTER TABLE orgs ADD COLUMN source_modified TEXT;
ALTER TABLE academic_sessions ADD COLUMN source_modified TEXT;
ALTER TABLE resources ADD COLUMN source_modified TEXT;
ALTER TABLE courses ADD COLUMN source_modified TEXT;
ALTER TABLE course_components ADD COLUMN source_modified TEXT;
ALTER TABLE component_resources ADD COLUMN source_modified TEXT;
ALTER TABLE classes ADD COLUMN source_modified TEXT;
ALTER TABLE users ADD COLUMN source_modified TEXT;
ALTER TABLE demographics ADD COLUMN source_modified TEXT;
ALTER TABLE enrollments ADD COLUMN source_modified TEXT;
ALTER TABLE categories ADD COLUMN source_modified TEXT;
ALTER TABLE score_scales ADD COLUMN source_modified TEXT;
ALTER TABLE line_items ADD COLUMN source_modified TEXT;
ALTER TABLE results ADD COLUMN source_modified TEXT;
ALTER TABLE assessment_line_items ADD COLUMN source_modified TEXT;
ALTER TABLE assessment_results ADD COLUMN source_modified TEXT;
