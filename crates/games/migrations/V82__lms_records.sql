-- Records of a roster that the setup of a game created: the game may change and delete those alone. The platform
-- is empty for the roster of this server, else the address of the other platform that a sandbox learns with.
CREATE TABLE lms_records (
    platform TEXT NOT NULL,
    kind TEXT NOT NULL,
    sourced_id TEXT NOT NULL,
    game_id TEXT NOT NULL,
    PRIMARY KEY (platform, kind, sourced_id)
) WITHOUT ROWID;

-- What games teach already: a course whose id is made of game, subject and grade was created by the game's setup.
-- A course with another id may be the school's own, so it gets no creator. Callers with the right to write rosters
-- can still change it.
INSERT INTO lms_records (platform, kind, sourced_id, game_id)
    SELECT '', 'course', c.sourced_id, min(l.game_id)
    FROM lms_courses l
        JOIN games g ON g.id = l.game_id
        JOIN courses c ON c.sourced_id = l.course_id
    WHERE l.course_id = replace(lower(g.slug || '-' || l.subject || '-' || l.grade), ' ', '-')
    GROUP BY c.sourced_id;
INSERT INTO lms_records (platform, kind, sourced_id, game_id)
    SELECT '', 'courseComponent', c.sourced_id, r.game_id
    FROM lms_records r JOIN course_components c ON c.sourced_id = r.sourced_id || '-component'
    WHERE r.kind = 'course';
INSERT INTO lms_records (platform, kind, sourced_id, game_id)
    SELECT '', 'resource', c.sourced_id, r.game_id
    FROM lms_records r JOIN resources c ON c.sourced_id = r.sourced_id || '-resource'
    WHERE r.kind = 'course';
INSERT INTO lms_records (platform, kind, sourced_id, game_id)
    SELECT '', 'componentResource', c.sourced_id, r.game_id
    FROM lms_records r
        JOIN component_resources c ON c.sourced_id = r.sourced_id || '-component-resource'
    WHERE r.kind = 'course';
