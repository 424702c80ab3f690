-- The address at which the server of this data says that it is reached: commands beside it print links to it.

CREATE TABLE server_address (
  id BIGINT NOT NULL PRIMARY KEY,
  public_url TEXT NOT NULL
);
