-- Rounds, zones and working memory.

-- The last head of the chain of rounds that was seen, at each remote, and here ('').
CREATE TABLE rounds (
    place     TEXT    NOT NULL PRIMARY KEY,
    round     INTEGER NOT NULL CHECK (round > 0),
    seal      BLOB    NOT NULL CHECK (length(seal) = 32),
    commit_id TEXT    NOT NULL,
    seen_at   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions that nobody has ended; few of them are not finalized either.
CREATE INDEX audit_sessions_open ON audit_sessions (started_at) WHERE ended_at IS NULL;

-- == zones

-- == working memory
