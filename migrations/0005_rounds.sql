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

-- The notes of an open session, as they were put there. They are no evidence: packing takes them away and leaves a leaf.
CREATE TABLE memory_short_term (
    note_id    INTEGER PRIMARY KEY AUTOINCREMENT,     -- no number twice: packing goes up to a number
    session_id TEXT NOT NULL REFERENCES audit_sessions (session_id),
    key        TEXT,
    text       TEXT NOT NULL,
    put_at     TEXT NOT NULL
) STRICT;
CREATE INDEX memory_short_term_by_session ON memory_short_term (session_id, note_id);

-- Notes that were packed: what their text hashed to, and the attestation that says so. The text is gone.
CREATE TABLE memory_long_term (
    note_id    INTEGER PRIMARY KEY,                   -- the number that it had
    session_id TEXT NOT NULL REFERENCES audit_sessions (session_id),
    key        TEXT,
    text_hash  BLOB NOT NULL CHECK (length(text_hash) = 32),
    record_id  TEXT NOT NULL REFERENCES thought_records (id),
    put_at     TEXT NOT NULL,
    packed_at  TEXT NOT NULL
) STRICT;
CREATE INDEX memory_long_term_by_session ON memory_long_term (session_id, note_id);
CREATE INDEX memory_long_term_by_text ON memory_long_term (text_hash);

CREATE TRIGGER memory_short_term_open BEFORE INSERT ON memory_short_term
WHEN EXISTS (SELECT 1 FROM merkle_roots WHERE session_id = NEW.session_id)
    OR (SELECT ended_at FROM audit_sessions WHERE session_id = NEW.session_id) IS NOT NULL
BEGIN SELECT raise(ABORT, 'a finalized or ended session takes no note'); END;
CREATE TRIGGER memory_short_term_fixed BEFORE UPDATE ON memory_short_term
BEGIN SELECT raise(ABORT, 'a note cannot be changed; put another one'); END;
CREATE TRIGGER memory_long_term_kept BEFORE DELETE ON memory_long_term
BEGIN SELECT raise(ABORT, 'a packed note cannot be deleted'); END;
CREATE TRIGGER memory_long_term_fixed BEFORE UPDATE ON memory_long_term
BEGIN SELECT raise(ABORT, 'a packed note cannot be changed'); END;
