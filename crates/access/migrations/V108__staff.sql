-- The accounts of everybody but students, for the console's search: few among those of a large network.
CREATE INDEX people_staff ON people (name, id) WHERE role <> 'student';
