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
