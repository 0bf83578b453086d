CREATE TABLE IF NOT EXISTS copies(
    edit INTEGER NOT NULL,
    position INTEGER NOT NULL,
    copy INTEGER,
    born INTEGER,
    before INTEGER,
    in_place INTEGER NOT NULL,
    PRIMARY KEY(edit, position)
) STRICT, WITHOUT ROWID;
