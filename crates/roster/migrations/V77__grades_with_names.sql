-- Grades compare by value, those with names too: K and KG are 0, PK is -1.
INSERT INTO roster_link (field, value, owner)
    SELECT field, '00', owner FROM roster_link
    WHERE field IN ('user.grades', 'class.grades', 'course.grades') AND value IN ('k', 'kg')
    ON CONFLICT DO NOTHING;
DELETE FROM roster_link
    WHERE field IN ('user.grades', 'class.grades', 'course.grades') AND value IN ('k', 'kg');
INSERT INTO roster_link (field, value, owner)
    SELECT field, '-1', owner FROM roster_link
    WHERE field IN ('user.grades', 'class.grades', 'course.grades') AND value = 'pk'
    ON CONFLICT DO NOTHING;
DELETE FROM roster_link
    WHERE field IN ('user.grades', 'class.grades', 'course.grades') AND value = 'pk';
