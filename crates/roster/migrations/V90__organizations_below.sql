-- Each organization with itself and with every organization above it: which organizations are below a root?

CREATE TABLE roster_org_below (
    root TEXT NOT NULL,
    org TEXT NOT NULL,
    PRIMARY KEY (root, org)
) WITHOUT ROWID;
CREATE INDEX roster_org_below_org ON roster_org_below (org);
INSERT INTO roster_org_below (root, org)
WITH RECURSIVE above (root, org) AS (
    SELECT sourced_id, sourced_id FROM orgs
    UNION
    SELECT o.parent_id, a.org FROM above a JOIN orgs o ON o.sourced_id = a.root
    WHERE o.parent_id IS NOT NULL
)
SELECT root, org FROM above;

-- Users with roles at several organizations, and the counts of each organization's records without them.

INSERT INTO roster_link (field, value, owner)
SELECT 'user.severalOrgs', l.value, l.owner FROM roster_link l
WHERE l.field = 'user.roles.org' AND l.owner IN (
    SELECT s.owner FROM roster_link s WHERE s.field = 'user.roles.org' GROUP BY s.owner HAVING COUNT(*) > 1
);
INSERT INTO tally (collection, level, block, shard, live)
SELECT 'classes@' || school_id, 1, 0, 0, COUNT(*) FROM classes
WHERE status = 'active' AND school_id IS NOT NULL GROUP BY school_id;
INSERT INTO tally (collection, level, block, shard, live)
SELECT 'enrollments@' || school_id, 1, 0, 0, COUNT(*) FROM enrollments
WHERE status = 'active' AND school_id IS NOT NULL GROUP BY school_id;
INSERT INTO tally (collection, level, block, shard, live)
SELECT 'lineItems@' || school_id, 1, 0, 0, COUNT(*) FROM line_items
WHERE status = 'active' AND school_id IS NOT NULL GROUP BY school_id;
INSERT INTO tally (collection, level, block, shard, live)
SELECT 'users@' || l.value, 1, 0, 0, COUNT(*) FROM roster_link l
JOIN users u ON u.seq = l.owner AND u.status = 'active'
WHERE l.field = 'user.roles.org' AND NOT EXISTS (
    SELECT 1 FROM roster_link s WHERE s.field = 'user.severalOrgs' AND s.value = l.value AND s.owner = l.owner
)
GROUP BY l.value;
INSERT INTO tally (collection, level, block, shard, live)
SELECT r.value || 's@' || l.value, 1, 0, 0, COUNT(*) FROM roster_link l
JOIN users u ON u.seq = l.owner AND u.status = 'active'
JOIN roster_link r ON r.owner = l.owner AND r.field = 'user.roles.role' AND r.value IN ('student', 'teacher')
WHERE l.field = 'user.roles.org' AND NOT EXISTS (
    SELECT 1 FROM roster_link s WHERE s.field = 'user.severalOrgs' AND s.value = l.value AND s.owner = l.owner
)
GROUP BY r.value, l.value;
