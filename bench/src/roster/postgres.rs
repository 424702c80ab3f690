//! D1: the PostgreSQL store beside the SQLite store.
