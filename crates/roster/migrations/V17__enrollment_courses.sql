-- Older servers must stop: they store enrollments without the course of the class.
-- The course of an enrollment is that of its class. Imported enrollments had none, and those of a class that had changed its
-- course had the former one. A TAB stands behind the brace of each reference. Ids with a quote or a backslash, which JSON
-- escapes, are left for the next write.
UPDATE enrollments SET
    version = version + 1,
    extra = CASE
        WHEN course_id IS NOT NULL THEN replace(
            extra,
            '"course":{	"sourcedId":"' || course_id || '"',
            '"course":{	"sourcedId":"' || (SELECT c.course_id FROM classes c WHERE c.sourced_id = enrollments.class_id) || '"')
        WHEN extra IS NULL THEN '{"course":{	"sourcedId":"' || (SELECT c.course_id FROM classes c WHERE c.sourced_id = enrollments.class_id) || '","type":"course"}}'
        ELSE '{"course":{	"sourcedId":"' || (SELECT c.course_id FROM classes c WHERE c.sourced_id = enrollments.class_id) || '","type":"course"},' || substr(extra, 2)
    END,
    course_id = (SELECT c.course_id FROM classes c WHERE c.sourced_id = enrollments.class_id)
WHERE EXISTS (
    SELECT 1 FROM classes c WHERE c.sourced_id = enrollments.class_id
    AND c.course_id IS NOT NULL AND c.course_id IS DISTINCT FROM enrollments.course_id
    AND replace(replace(c.course_id || COALESCE(enrollments.course_id, ''), '"', ''), '\', '')
        = c.course_id || COALESCE(enrollments.course_id, ''));
