-- The store of one clone. What is hashed cannot be changed and nothing can be deleted: triggers see to it, and
-- `git proof check` finds what got past them.
--
-- Digests are 32-byte blobs. Times are text, RFC 3339, UTC, milliseconds.

CREATE TABLE audit_sessions (
    session_id  TEXT    NOT NULL PRIMARY KEY,
    intent      TEXT    NOT NULL,
    task_id     TEXT,
    started_at  TEXT    NOT NULL,
    caller      TEXT    NOT NULL,
    proof_grade INTEGER NOT NULL CHECK (proof_grade IN (0, 1)),
    scheme      TEXT    NOT NULL,
    opening     TEXT    NOT NULL,                     -- the canonical opening record
    genesis     BLOB    NOT NULL CHECK (length(genesis) = 32),
    ended_at    TEXT
) STRICT;
CREATE INDEX audit_sessions_by_task ON audit_sessions (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX audit_sessions_by_start ON audit_sessions (started_at);

-- Which session a worktree works in; '' is the main worktree, else its directory below the common one.
CREATE TABLE worktree_sessions (
    worktree   TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES audit_sessions (session_id)
) STRICT, WITHOUT ROWID;

-- The ledger of every call that changed something.
CREATE TABLE audit_events (
    event_id   INTEGER PRIMARY KEY,
    session_id TEXT REFERENCES audit_sessions (session_id),
    tool       TEXT NOT NULL,
    arguments  BLOB CHECK (arguments IS NULL OR length(arguments) = 32),  -- SHA-256 of what the call was given
    outcome    TEXT NOT NULL,                         -- 'ok', or the code of the refusal
    detail     TEXT,                                  -- 'genesis …', 'count …' after entries, 'root … count …'
    at         TEXT NOT NULL
) STRICT;
CREATE INDEX audit_events_by_session ON audit_events (session_id) WHERE session_id IS NOT NULL;

-- The entries: thoughts and attested operations. `line` is what is hashed; the columns that are read out of it are
-- computed, so that there is one truth. Retention may set `line` to NULL; the hashes stay.
CREATE TABLE thought_records (
    seq          INTEGER PRIMARY KEY,                 -- order of recording over all sessions
    session_id   TEXT    NOT NULL REFERENCES audit_sessions (session_id),
    position     INTEGER NOT NULL,                    -- 0, 1, … in the session
    id           TEXT    NOT NULL,
    parent_id    TEXT,                                -- NULL: the genesis
    type         TEXT    NOT NULL CHECK (type IN ('plan', 'analysis', 'decision', 'reflection', 'attest')),
    timestamp    TEXT    NOT NULL,
    prev_hash    BLOB    NOT NULL CHECK (length(prev_hash) = 32),
    content_hash BLOB    NOT NULL CHECK (length(content_hash) = 32),
    chain_hash   BLOB    NOT NULL CHECK (length(chain_hash) = 32),
    private      INTEGER NOT NULL CHECK (private IN (0, 1)),
    last_event   INTEGER NOT NULL,                    -- provenance: the events since the record before end here
    line         TEXT,
    content      TEXT GENERATED ALWAYS AS (coalesce(line ->> '$.content', line ->> '$.attest')) VIRTUAL,
    metadata     TEXT GENERATED ALWAYS AS (line ->> '$.metadata') VIRTUAL,
    task_id      TEXT GENERATED ALWAYS AS (line ->> '$.task_id') VIRTUAL
) STRICT;
CREATE UNIQUE INDEX thought_records_by_position ON thought_records (session_id, position);
CREATE UNIQUE INDEX thought_records_by_id ON thought_records (id);

CREATE VIRTUAL TABLE thought_records_fts USING fts5 (
    content, metadata,
    content = 'thought_records', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2'
);

-- Complete inner nodes as entries arrive, the right edge when a session is finalized. A leaf is its entry's content
-- hash and is not stored again, except in v1-sorted, where level 0 holds the leaves in their sorted order.
-- The last node of an odd level has no right child: it is paired with itself, or moves up, as the scheme says.
CREATE TABLE merkle_nodes (
    session_id        TEXT    NOT NULL REFERENCES audit_sessions (session_id),
    level             INTEGER NOT NULL,
    node_index        INTEGER NOT NULL,
    hash              BLOB    NOT NULL CHECK (length(hash) = 32),
    left_child_index  INTEGER GENERATED ALWAYS AS (CASE level WHEN 0 THEN NULL ELSE node_index * 2 END) VIRTUAL,
    right_child_index INTEGER GENERATED ALWAYS AS (CASE level WHEN 0 THEN NULL ELSE node_index * 2 + 1 END) VIRTUAL,
    PRIMARY KEY (session_id, level, node_index)
) STRICT, WITHOUT ROWID;

CREATE TABLE merkle_roots (
    session_id   TEXT    NOT NULL PRIMARY KEY REFERENCES audit_sessions (session_id),
    root         BLOB    NOT NULL CHECK (length(root) = 32),
    record_count INTEGER NOT NULL CHECK (record_count > 0),
    finalized_at TEXT    NOT NULL,
    scheme       TEXT    NOT NULL,
    genesis      BLOB    NOT NULL CHECK (length(genesis) = 32),
    head         BLOB    NOT NULL CHECK (length(head) = 32),
    signatures   TEXT
) STRICT;

-- Append-only.
CREATE TRIGGER audit_sessions_kept BEFORE DELETE ON audit_sessions
BEGIN SELECT raise(ABORT, 'a session cannot be deleted'); END;
CREATE TRIGGER audit_sessions_fixed BEFORE UPDATE ON audit_sessions
WHEN OLD.ended_at IS NOT NULL
    OR OLD.session_id IS NOT NEW.session_id OR OLD.intent IS NOT NEW.intent OR OLD.task_id IS NOT NEW.task_id
    OR OLD.started_at IS NOT NEW.started_at OR OLD.caller IS NOT NEW.caller OR OLD.proof_grade IS NOT NEW.proof_grade
    OR OLD.scheme IS NOT NEW.scheme OR OLD.opening IS NOT NEW.opening OR OLD.genesis IS NOT NEW.genesis
BEGIN SELECT raise(ABORT, 'a session can only be ended, and only once'); END;

CREATE TRIGGER thought_records_open BEFORE INSERT ON thought_records
WHEN EXISTS (SELECT 1 FROM merkle_roots WHERE session_id = NEW.session_id)
    OR (SELECT ended_at FROM audit_sessions WHERE session_id = NEW.session_id) IS NOT NULL
BEGIN SELECT raise(ABORT, 'a finalized or ended session takes no entry'); END;
CREATE TRIGGER thought_records_kept BEFORE DELETE ON thought_records
BEGIN SELECT raise(ABORT, 'an entry cannot be deleted'); END;
CREATE TRIGGER thought_records_fixed BEFORE UPDATE ON thought_records
WHEN NEW.line IS NOT NULL
    OR OLD.seq IS NOT NEW.seq OR OLD.session_id IS NOT NEW.session_id OR OLD.position IS NOT NEW.position
    OR OLD.id IS NOT NEW.id OR OLD.parent_id IS NOT NEW.parent_id OR OLD.type IS NOT NEW.type
    OR OLD.timestamp IS NOT NEW.timestamp OR OLD.prev_hash IS NOT NEW.prev_hash
    OR OLD.content_hash IS NOT NEW.content_hash OR OLD.chain_hash IS NOT NEW.chain_hash
    OR OLD.private IS NOT NEW.private OR OLD.last_event IS NOT NEW.last_event
BEGIN SELECT raise(ABORT, 'an entry cannot be changed; only its body can be blanked'); END;

CREATE TRIGGER merkle_nodes_kept BEFORE DELETE ON merkle_nodes
BEGIN SELECT raise(ABORT, 'a tree node cannot be deleted'); END;
CREATE TRIGGER merkle_nodes_fixed BEFORE UPDATE ON merkle_nodes
BEGIN SELECT raise(ABORT, 'a tree node cannot be changed'); END;

CREATE TRIGGER merkle_roots_kept BEFORE DELETE ON merkle_roots
BEGIN SELECT raise(ABORT, 'a root cannot be deleted'); END;
CREATE TRIGGER merkle_roots_fixed BEFORE UPDATE ON merkle_roots
WHEN OLD.session_id IS NOT NEW.session_id OR OLD.root IS NOT NEW.root OR OLD.record_count IS NOT NEW.record_count
    OR OLD.finalized_at IS NOT NEW.finalized_at OR OLD.scheme IS NOT NEW.scheme OR OLD.genesis IS NOT NEW.genesis
    OR OLD.head IS NOT NEW.head
BEGIN SELECT raise(ABORT, 'a root cannot be changed; only signatures can be added'); END;

CREATE TRIGGER audit_events_kept BEFORE DELETE ON audit_events
BEGIN SELECT raise(ABORT, 'an event cannot be deleted'); END;
CREATE TRIGGER audit_events_fixed BEFORE UPDATE ON audit_events
BEGIN SELECT raise(ABORT, 'an event cannot be changed'); END;

-- Full-text search.
CREATE TRIGGER thought_records_indexed AFTER INSERT ON thought_records
BEGIN
    INSERT INTO thought_records_fts (rowid, content, metadata) VALUES (NEW.seq, NEW.content, NEW.metadata);
END;
CREATE TRIGGER thought_records_unindexed AFTER UPDATE ON thought_records
WHEN OLD.line IS NOT NULL AND NEW.line IS NULL
BEGIN
    INSERT INTO thought_records_fts (thought_records_fts, rowid, content, metadata)
    VALUES ('delete', OLD.seq, OLD.content, OLD.metadata);
END;
