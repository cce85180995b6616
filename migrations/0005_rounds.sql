-- Rounds, zones and working memory.

-- The last head of the chain of rounds that was seen, at each remote, and here ('').
CREATE TABLE rounds (
    place     TEXT    NOT NULL PRIMARY KEY,
    round     INTEGER NOT NULL CHECK (round > 0),
    seal      BLOB    NOT NULL CHECK (length(seal) = 32),
    commit_id TEXT    NOT NULL,
    seen_at   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- == zones

-- == working memory
