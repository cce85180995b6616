-- What this clone wrote into git, so that what another writer overwrites can be put back, and so that a change can be
-- found again after a rewrite that no hook saw.

-- Lines of notes, numbered as they were written. `git notes` overwrites blindly, so a line is kept as unseen until a
-- remote has it.
CREATE TABLE anchors (
    seq        INTEGER PRIMARY KEY,
    commit_id  TEXT NOT NULL,                         -- whose note the line is in
    line_hash  BLOB NOT NULL CHECK (length(line_hash) = 32),
    line       TEXT NOT NULL,
    change_id  BLOB CHECK (change_id IS NULL OR length(change_id) = 32),  -- the change that it names
    written_at TEXT NOT NULL,
    seen_on    TEXT                                   -- a remote that has it
) STRICT;
CREATE UNIQUE INDEX anchors_by_commit ON anchors (commit_id, line_hash);
CREATE INDEX anchors_unseen ON anchors (seq) WHERE seen_on IS NULL;
CREATE INDEX anchors_by_change ON anchors (change_id) WHERE change_id IS NOT NULL;

-- Ranges that became one commit here: lines as in the index of changes, but of this clone alone.
CREATE TABLE sightings (
    change_id BLOB NOT NULL CHECK (length(change_id) = 32),
    line      TEXT NOT NULL,
    PRIMARY KEY (change_id, line)
) STRICT, WITHOUT ROWID;

-- The commit that was made of what a session had attested while it was only staged.
CREATE TABLE session_commits (
    session_id TEXT NOT NULL REFERENCES audit_sessions (session_id),
    commit_id  TEXT NOT NULL,
    PRIMARY KEY (session_id, commit_id)
) STRICT, WITHOUT ROWID;

-- Where a ref was when it held every line up to a number.
CREATE TABLE ref_tips (
    ref   TEXT    NOT NULL PRIMARY KEY,
    tip   TEXT    NOT NULL,
    up_to INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Attestations are looked up by session; thoughts need no second index.
CREATE INDEX thought_records_attested ON thought_records (session_id, position) WHERE type = 'attest';
