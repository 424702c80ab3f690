-- What part of the roster a client, a person or an API key has access to, as JSON; NULL: everything.

ALTER TABLE clients ADD COLUMN reach TEXT;
ALTER TABLE people ADD COLUMN reach TEXT;
ALTER TABLE api_keys ADD COLUMN reach TEXT;
