-- The tables of the app. `lyceum db push` brings the database on this machine to this schema,
-- and a deploy does the same with the deployed one.
CREATE TABLE notes (
  id INTEGER PRIMARY KEY,
  author TEXT NOT NULL,
  body TEXT NOT NULL
);
