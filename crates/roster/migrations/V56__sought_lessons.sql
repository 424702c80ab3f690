-- The few among all resources, and their places in courses, that may be lessons of the sorts which are looked
-- for in all courses.
CREATE INDEX component_resources_sought ON component_resources (seq) WHERE body LIKE '%"test-out"%' OR body LIKE '%"placement"%' OR body LIKE '%"unit-test"%';
CREATE INDEX resources_sought ON resources (seq) WHERE body LIKE '%"test-out"%' OR body LIKE '%"placement"%' OR body LIKE '%"unit-test"%';
