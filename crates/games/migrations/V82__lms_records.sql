-- Records of the roster that the setup of a game created: the game may change and delete those alone.
CREATE TABLE lms_records (
    kind TEXT NOT NULL,
    sourced_id TEXT NOT NULL,
    game_id TEXT NOT NULL,
    PRIMARY KEY (kind, sourced_id)
) WITHOUT ROWID;

-- What games teach already was written by their setups, under these ids. A course that two games teach is the
-- first one's.
INSERT INTO lms_records (kind, sourced_id, game_id)
    SELECT 'course', c.sourced_id, min(l.game_id)
    FROM lms_courses l JOIN courses c ON c.sourced_id = l.course_id GROUP BY c.sourced_id;
INSERT INTO lms_records (kind, sourced_id, game_id)
    SELECT 'courseComponent', c.sourced_id, min(l.game_id)
    FROM lms_courses l JOIN course_components c ON c.sourced_id = l.course_id || '-component'
    GROUP BY c.sourced_id;
INSERT INTO lms_records (kind, sourced_id, game_id)
    SELECT 'resource', c.sourced_id, min(l.game_id)
    FROM lms_courses l JOIN resources c ON c.sourced_id = l.course_id || '-resource'
    GROUP BY c.sourced_id;
INSERT INTO lms_records (kind, sourced_id, game_id)
    SELECT 'componentResource', c.sourced_id, min(l.game_id)
    FROM lms_courses l JOIN component_resources c
        ON c.sourced_id = l.course_id || '-component-resource'
    GROUP BY c.sourced_id;
