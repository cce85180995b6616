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

-- Sessions whose texts went out of this file, and those that were read back into it. One that is not here has all of its
-- texts. The row comes first and the texts go after it, in batches: where they are half gone, `settled` says so.
CREATE TABLE zones (
    session_id    TEXT    NOT NULL PRIMARY KEY REFERENCES audit_sessions (session_id),
    zone          TEXT    NOT NULL CHECK (zone IN ('warm', 'cold', 'frozen')),
    since         TEXT    NOT NULL,
    round         INTEGER CHECK (round IS NULL OR round > 0),  -- warm again: the newest round when `retain` first saw it
    archive       BLOB    CHECK (archive IS NULL OR length(archive) = 32),  -- SHA-256 of its whole evidence
    archive_bytes INTEGER NOT NULL,                   -- size of the file that holds it
    settled       INTEGER NOT NULL CHECK (settled IN (0, 1)),
    CHECK (archive IS NOT NULL OR zone = 'frozen')
) STRICT, WITHOUT ROWID;
CREATE INDEX zones_unsettled ON zones (session_id) WHERE settled = 0;

CREATE TRIGGER zones_finalized BEFORE INSERT ON zones
WHEN NOT EXISTS (SELECT 1 FROM merkle_roots WHERE session_id = NEW.session_id)
BEGIN SELECT raise(ABORT, 'only a finalized session leaves its first zone'); END;
CREATE TRIGGER zones_kept BEFORE DELETE ON zones
BEGIN SELECT raise(ABORT, 'a zone cannot be deleted'); END;
CREATE TRIGGER zones_fixed BEFORE UPDATE ON zones
WHEN OLD.session_id IS NOT NEW.session_id OR (OLD.zone = 'frozen' AND NEW.zone <> 'frozen')
BEGIN SELECT raise(ABORT, 'what is frozen stays so'); END;

-- A body goes only from a session that is on its way out, and comes back only where it is blank, in one that is cold. That
-- what comes back is what was hashed is seen to by the program: there is no SHA-256 in SQL.
DROP TRIGGER thought_records_fixed;
CREATE TRIGGER thought_records_fixed BEFORE UPDATE ON thought_records
WHEN OLD.seq IS NOT NEW.seq OR OLD.session_id IS NOT NEW.session_id OR OLD.position IS NOT NEW.position
    OR OLD.id IS NOT NEW.id OR OLD.parent_id IS NOT NEW.parent_id OR OLD.type IS NOT NEW.type
    OR OLD.timestamp IS NOT NEW.timestamp OR OLD.prev_hash IS NOT NEW.prev_hash
    OR OLD.content_hash IS NOT NEW.content_hash OR OLD.chain_hash IS NOT NEW.chain_hash
    OR OLD.private IS NOT NEW.private OR OLD.last_event IS NOT NEW.last_event
    OR (OLD.line IS NOT NULL AND NEW.line IS NOT NULL)
    OR NOT EXISTS (SELECT 1 FROM zones WHERE session_id = OLD.session_id AND settled = 0
                   AND (zone = 'cold' OR (zone = 'frozen' AND NEW.line IS NULL)))
BEGIN SELECT raise(ABORT, 'an entry cannot be changed; only retention can blank its body and put it back'); END;

CREATE TRIGGER thought_records_reindexed AFTER UPDATE ON thought_records
WHEN OLD.line IS NULL AND NEW.line IS NOT NULL AND OLD.seq <= (SELECT upto FROM search_state)
BEGIN
    INSERT INTO thought_records_fts (rowid, content, metadata) VALUES (NEW.seq, NEW.content, NEW.metadata);
END;

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
