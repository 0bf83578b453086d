CREATE TABLE edits(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    tool TEXT NOT NULL,
    author TEXT NOT NULL,
    request BLOB NOT NULL,
    kind INTEGER NOT NULL,
    of INTEGER NOT NULL,
    gates TEXT NOT NULL,
    undone INTEGER,
    settled INTEGER NOT NULL
) STRICT;
CREATE INDEX edits_begun ON edits(number) WHERE settled = 0;
CREATE INDEX edits_undone ON edits(undone) WHERE undone IS NOT NULL;
CREATE TABLE changes(
    edit INTEGER NOT NULL,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    staged TEXT NOT NULL,
    before BLOB,
    after BLOB,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    mode INTEGER,
    folders INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    PRIMARY KEY(edit, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_path ON changes(path, edit);
CREATE TABLE texts(
    id INTEGER PRIMARY KEY,
    stamp BLOB NOT NULL UNIQUE,
    base INTEGER,
    depth INTEGER NOT NULL,
    last INTEGER NOT NULL,
    at INTEGER NOT NULL,
    size INTEGER NOT NULL
) STRICT;
CREATE INDEX texts_read ON texts(at) WHERE last = 0;
CREATE TABLE bytes(text INTEGER PRIMARY KEY, packed BLOB NOT NULL) STRICT;
