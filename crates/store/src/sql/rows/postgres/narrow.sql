-- The trigram index of the parts of texts. If the extension is missing or not allowed, there is no index.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    -- New entries stay in a pending list that every search reads, until an edit merges them: a short list keeps both fast.
    CREATE INDEX IF NOT EXISTS lines_grams ON lines USING gin (text gin_trgm_ops)
        WITH (gin_pending_list_limit = 256);
EXCEPTION WHEN OTHERS THEN
    NULL;
END
$$;
