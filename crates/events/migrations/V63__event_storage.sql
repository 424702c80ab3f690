-- What is packed already is neither packed again nor kept apart from its row, which fits into a page.
POSTGRES ALTER TABLE event_blocks ALTER COLUMN packed SET STORAGE EXTERNAL;
POSTGRES ALTER TABLE event_blocks SET (toast_tuple_target = 8160);
POSTGRES ALTER TABLE event_id_chunks ALTER COLUMN body SET STORAGE EXTERNAL;
POSTGRES ALTER TABLE event_id_chunks SET (toast_tuple_target = 8160);
POSTGRES ALTER TABLE event_fact_chunks ALTER COLUMN body SET STORAGE EXTERNAL;
POSTGRES ALTER TABLE event_fact_chunks SET (toast_tuple_target = 8160);
