-- Stored content: one row for each entity, and what was done to it.
-- An organisation or an app that there is none of is the empty text. Times are microseconds since 1970.

CREATE TABLE meta(name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT;
INSERT INTO meta(name, value) VALUES ('journal', random() & 65535);

CREATE TABLE apps(
    id TEXT NOT NULL PRIMARY KEY,
    organization TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE TABLE entities(
    kind TEXT NOT NULL,
    organization TEXT NOT NULL,
    app TEXT NOT NULL,
    path TEXT NOT NULL,
    stamp BLOB NOT NULL,
    size INTEGER NOT NULL,
    encoding TEXT NOT NULL,
    revision INTEGER NOT NULL,
    author TEXT NOT NULL,
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    PRIMARY KEY(kind, organization, app, path)
) STRICT;

-- `text` is what the bytes show, with U+FFFD for each NUL; `raw` the bytes, where they differ from it.
CREATE TABLE contents(
    kind TEXT NOT NULL,
    organization TEXT NOT NULL,
    app TEXT NOT NULL,
    path TEXT NOT NULL,
    text TEXT NOT NULL,
    raw BLOB,
    PRIMARY KEY(kind, organization, app, path)
) STRICT;

-- By what searches are narrowed: each line of a text stands in one of its parts, and there may be lines that it had. An edit
-- adds those that are new, so that an index has little to learn of it.
CREATE TABLE lines(
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    organization TEXT NOT NULL,
    app TEXT NOT NULL,
    path TEXT NOT NULL,
    part INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE(kind, organization, app, path, part)
) STRICT;

-- Which of them hold three characters in a row; the lines themselves stay where they are.
CREATE VIRTUAL TABLE grams USING fts5(text, content='lines', content_rowid='id', tokenize='trigram', detail='none', columnsize=0);
CREATE TRIGGER lines_made AFTER INSERT ON lines BEGIN
    INSERT INTO grams(rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER lines_removed AFTER DELETE ON lines BEGIN
    INSERT INTO grams(grams, rowid, text) VALUES ('delete', old.id, old.text);
END;

-- `organization` is whose rows the edit changed, where they are not all nobody's.
CREATE TABLE edits(
    id INTEGER PRIMARY KEY,
    organization TEXT NOT NULL,
    at INTEGER NOT NULL,
    tool TEXT NOT NULL,
    author TEXT NOT NULL,
    request BLOB NOT NULL,
    kind INTEGER NOT NULL,
    of INTEGER NOT NULL,
    gates TEXT NOT NULL,
    undone INTEGER
) STRICT;
CREATE INDEX edits_reach ON edits(organization, at);
CREATE INDEX edits_at ON edits(at);

CREATE TABLE changes(
    edit INTEGER NOT NULL,
    position INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    organization TEXT NOT NULL,
    app TEXT NOT NULL,
    path TEXT NOT NULL,
    before BLOB,
    after BLOB,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    PRIMARY KEY(edit, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_row ON changes(kind, organization, app, path, at);

-- `at` is when an edit last left the text.
CREATE TABLE texts(
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    organization TEXT NOT NULL,
    app TEXT NOT NULL,
    path TEXT NOT NULL,
    stamp BLOB NOT NULL,
    at INTEGER NOT NULL,
    size INTEGER NOT NULL,
    packed BLOB NOT NULL,
    UNIQUE(kind, organization, app, path, stamp)
) STRICT;
