-- Stored content: one row for each entity, and what was done to it.
-- An organisation or an app that there is none of is the empty text. Times are microseconds since 1970.

CREATE TABLE meta(name TEXT COLLATE "C" NOT NULL PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO meta(name, value) VALUES ('journal', floor(random() * 65536)::bigint);

CREATE TABLE apps(
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    organization TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL
);

-- Each edit updates its row in place: room is left on the page for that.
CREATE TABLE entities(
    kind TEXT COLLATE "C" NOT NULL,
    organization TEXT COLLATE "C" NOT NULL,
    app TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    stamp BYTEA NOT NULL,
    size BIGINT NOT NULL,
    encoding TEXT NOT NULL,
    revision BIGINT NOT NULL,
    author TEXT NOT NULL,
    created BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    PRIMARY KEY(kind, organization, app, path)
) WITH (fillfactor = 80);

-- `text` is what the bytes show, with U+FFFD for each NUL; `raw` the bytes, where they differ from it.
CREATE TABLE contents(
    kind TEXT COLLATE "C" NOT NULL,
    organization TEXT COLLATE "C" NOT NULL,
    app TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    raw BYTEA,
    PRIMARY KEY(kind, organization, app, path)
);

-- By what searches are narrowed: each line of a text stands in one of its parts, and there may be lines that it had. An edit
-- adds those that are new, so that an index has little to learn of it.
CREATE TABLE lines(
    kind TEXT COLLATE "C" NOT NULL,
    organization TEXT COLLATE "C" NOT NULL,
    app TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    part BIGINT NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY(kind, organization, app, path, part)
);

-- `organization` is whose rows the edit changed, where they are not all nobody's.
CREATE TABLE edits(
    id BIGINT NOT NULL PRIMARY KEY,
    organization TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    tool TEXT NOT NULL,
    author TEXT NOT NULL,
    request BYTEA NOT NULL,
    kind BIGINT NOT NULL,
    of BIGINT NOT NULL,
    gates TEXT NOT NULL,
    undone BIGINT
);
CREATE INDEX edits_reach ON edits(organization, at);
CREATE INDEX edits_at ON edits(at);

CREATE TABLE changes(
    edit BIGINT NOT NULL,
    position BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    organization TEXT COLLATE "C" NOT NULL,
    app TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    before BYTEA,
    after BYTEA,
    added BIGINT NOT NULL,
    removed BIGINT NOT NULL,
    kept BIGINT NOT NULL,
    PRIMARY KEY(edit, position)
);
CREATE INDEX changes_row ON changes(kind, organization, app, path, at);

-- `at` is when an edit last left the text. It is packed already.
CREATE TABLE texts(
    kind TEXT COLLATE "C" NOT NULL,
    organization TEXT COLLATE "C" NOT NULL,
    app TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    stamp BYTEA NOT NULL,
    at BIGINT NOT NULL,
    size BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY(kind, organization, app, path, stamp)
);
ALTER TABLE texts ALTER COLUMN packed SET STORAGE EXTERNAL;

-- Whoever asks is shown the rows of one organisation and those of nobody, whatever the statement says.
ALTER TABLE apps ENABLE ROW LEVEL SECURITY;
ALTER TABLE apps FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON apps USING (
    organization IN ('', current_setting('lockgate.organization', true))
    OR current_setting('lockgate.everybody', true) = 'on');

ALTER TABLE entities ENABLE ROW LEVEL SECURITY;
ALTER TABLE entities FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON entities USING (
    organization IN ('', current_setting('lockgate.organization', true))
    OR current_setting('lockgate.everybody', true) = 'on');

ALTER TABLE contents ENABLE ROW LEVEL SECURITY;
ALTER TABLE contents FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON contents USING (
    organization IN ('', current_setting('lockgate.organization', true))
    OR current_setting('lockgate.everybody', true) = 'on');

ALTER TABLE lines ENABLE ROW LEVEL SECURITY;
ALTER TABLE lines FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON lines USING (
    organization IN ('', current_setting('lockgate.organization', true))
    OR current_setting('lockgate.everybody', true) = 'on');

ALTER TABLE edits ENABLE ROW LEVEL SECURITY;
ALTER TABLE edits FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON edits USING (
    organization IN ('', current_setting('lockgate.organization', true))
    OR current_setting('lockgate.everybody', true) = 'on');

ALTER TABLE changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE changes FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON changes USING (
    organization IN ('', current_setting('lockgate.organization', true))
    OR current_setting('lockgate.everybody', true) = 'on');

ALTER TABLE texts ENABLE ROW LEVEL SECURITY;
ALTER TABLE texts FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON texts USING (
    organization IN ('', current_setting('lockgate.organization', true))
    OR current_setting('lockgate.everybody', true) = 'on');

-- What is searched for is a part of the policy: LIKE is not leakproof, so that no index would be asked for it in a
-- statement, which comes after the policies. Where nothing is searched for, every line is like it.
CREATE POLICY needle ON lines AS RESTRICTIVE FOR SELECT USING (
    text LIKE coalesce(nullif(current_setting('lockgate.needle', true), ''), '%'));
