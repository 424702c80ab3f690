-- The language in which a person reads pages, as a tag such as 'es'; NULL if the browser decides.

ALTER TABLE people ADD COLUMN language TEXT;
