-- What is older than the window is found without reading all tries.

CREATE INDEX guesses_since ON guesses (since_ms);
