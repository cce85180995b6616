-- Decisions come back. Nothing in these tables is trusted: they say where to look, and what is found there is verified.

-- Which record corrects which entry, by the content hash of the corrected one.
CREATE TABLE corrections (
    superseded TEXT NOT NULL,                         -- a content hash in hex
    record_id  TEXT NOT NULL REFERENCES thought_records (id),
    PRIMARY KEY (superseded, record_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER corrections_noted AFTER INSERT ON thought_records
WHEN instr(NEW.line, '"supersedes":"') > 0 AND json_type(NEW.line, '$.metadata.supersedes') = 'text'
BEGIN
    INSERT INTO corrections (superseded, record_id) VALUES (NEW.line ->> '$.metadata.supersedes', NEW.id);
END;
INSERT INTO corrections (superseded, record_id)
SELECT line ->> '$.metadata.supersedes', id FROM thought_records
WHERE instr(line, '"supersedes":"') > 0 AND json_type(line, '$.metadata.supersedes') = 'text';

-- The commits of the base branch by the paths that they changed, as far as they were looked at; the newest has the highest number.
CREATE TABLE path_commits (
    path      BLOB    NOT NULL,
    number    INTEGER NOT NULL,
    commit_id TEXT    NOT NULL,
    PRIMARY KEY (path, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE path_commits_tip (
    only_one INTEGER NOT NULL PRIMARY KEY CHECK (only_one = 1),
    tip      TEXT    NOT NULL,                        -- the commit of the base branch up to which they were looked at
    number   INTEGER NOT NULL                         -- the highest number that was given
) STRICT, WITHOUT ROWID;

-- The files of which an agent was told the decisions: each once in its session.
CREATE TABLE agent_recalled (
    agent         TEXT NOT NULL,
    agent_session TEXT NOT NULL,
    path          TEXT NOT NULL,
    PRIMARY KEY (agent, agent_session, path)
) STRICT, WITHOUT ROWID;
