-- Which parts of a text hold three characters in a row. What is not there, or not allowed, is gone without.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    -- What was edited waits in a list, which every search reads, until an edit sorts it in: a short one keeps both quick.
    CREATE INDEX IF NOT EXISTS lines_grams ON lines USING gin (text gin_trgm_ops)
        WITH (gin_pending_list_limit = 256);
EXCEPTION WHEN OTHERS THEN
    NULL;
END
$$;
