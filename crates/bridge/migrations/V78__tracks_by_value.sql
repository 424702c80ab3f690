-- Grades compare by value, those with names too: K and KG are 0, PK is -1. The ids of tracks stay.
UPDATE subject_track SET grade_value = '00' WHERE grade_value IN ('k', 'kg');
UPDATE subject_track SET grade_value = '-1' WHERE grade_value = 'pk';
