-- When an organization and those below it have school. `weekdays` has the digits 1 (Monday) to 7 (Sunday), `begins` and
-- `ends` are local times such as 08:00, `days_off` is a JSON array of days.
CREATE TABLE school_hours (
    org TEXT PRIMARY KEY,
    weekdays TEXT NOT NULL,
    begins TEXT NOT NULL,
    ends TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    days_off TEXT NOT NULL
);
