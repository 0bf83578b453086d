-- Which rows hold three characters in a row. What is not there, or not allowed, is gone without.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX IF NOT EXISTS contents_grams ON contents USING gin (text gin_trgm_ops);
EXCEPTION WHEN OTHERS THEN
    NULL;
END
$$;
