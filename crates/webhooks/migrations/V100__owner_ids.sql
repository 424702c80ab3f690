-- The id of the client, person or API key that created the webhook. It decides what the webhook receives, so it must not
-- change with an e-mail address or the name of a key. Empty if the owner does not exist any more.
ALTER TABLE webhooks ADD COLUMN owner_id TEXT NOT NULL DEFAULT '';

UPDATE webhooks SET owner_id = COALESCE(
    (SELECT c.id FROM clients c WHERE c.id = webhooks.owner),
    (SELECT p.id FROM people p WHERE p.email = webhooks.owner),
    (SELECT k.id FROM api_keys k WHERE k.name = webhooks.owner ORDER BY k.created_ms DESC, k.id LIMIT 1),
    CASE WHEN webhooks.owner = 'sandbox' THEN 'sandbox' END,
    ''
);
