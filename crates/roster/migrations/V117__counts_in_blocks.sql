-- The counts of each organization's records in blocks of 65 536 numbers, in place of one total. Transactions that run
-- beside the migration write their counts last: they end before the lock, or count after it.
POSTGRES LOCK TABLE tally IN SHARE ROW EXCLUSIVE MODE;

DELETE FROM tally WHERE collection LIKE '%@%';
INSERT INTO tally (collection, level, block, shard, live)
SELECT 'classes@' || school_id, 1, seq >> 16, 0, COUNT(*) FROM classes
WHERE status = 'active' AND school_id IS NOT NULL GROUP BY school_id, seq >> 16;
INSERT INTO tally (collection, level, block, shard, live)
SELECT 'enrollments@' || school_id, 1, seq >> 16, 0, COUNT(*) FROM enrollments
WHERE status = 'active' AND school_id IS NOT NULL GROUP BY school_id, seq >> 16;
INSERT INTO tally (collection, level, block, shard, live)
SELECT 'lineItems@' || school_id, 1, seq >> 16, 0, COUNT(*) FROM line_items
WHERE status = 'active' AND school_id IS NOT NULL GROUP BY school_id, seq >> 16;
INSERT INTO tally (collection, level, block, shard, live)
SELECT 'users@' || l.value, 1, l.owner >> 16, 0, COUNT(*) FROM roster_link l
JOIN users u ON u.seq = l.owner AND u.status = 'active'
WHERE l.field = 'user.roles.org' AND NOT EXISTS (
    SELECT 1 FROM roster_link s WHERE s.field = 'user.severalOrgs' AND s.value = l.value AND s.owner = l.owner
)
GROUP BY l.value, l.owner >> 16;
INSERT INTO tally (collection, level, block, shard, live)
SELECT r.value || 's@' || l.value, 1, l.owner >> 16, 0, COUNT(*) FROM roster_link l
JOIN users u ON u.seq = l.owner AND u.status = 'active'
JOIN roster_link r ON r.owner = l.owner AND r.field = 'user.roles.role' AND r.value IN ('student', 'teacher')
WHERE l.field = 'user.roles.org' AND NOT EXISTS (
    SELECT 1 FROM roster_link s WHERE s.field = 'user.severalOrgs' AND s.value = l.value AND s.owner = l.owner
)
GROUP BY r.value, l.value, l.owner >> 16;
