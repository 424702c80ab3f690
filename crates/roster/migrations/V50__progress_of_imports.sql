-- How far an import is, as JSON, told by the server that works on it; NULL where nobody does.
ALTER TABLE imports ADD COLUMN progress TEXT;
