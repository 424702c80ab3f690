-- Whose account somebody's identity at an OpenID provider opens.

CREATE TABLE person_identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (id),
    made_ms BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX person_identities_person ON person_identities (person);
