-- What the hooks of agents tell. An agent's own session is a chain of ours: agents resume under one id, and some end after
-- every turn.
CREATE TABLE agents (
    agent         TEXT    NOT NULL,                   -- its name, such as 'codex'
    agent_session TEXT    NOT NULL,                   -- the id that it gives to its session; a subagent's own id follows a slash
    worktree      TEXT    NOT NULL,                   -- where it was seen last
    reserved      TEXT    NOT NULL,                   -- the id of the session that its next edit, commit or record opens
    session_id    TEXT    REFERENCES audit_sessions (session_id),  -- the newest session of its chain
    process       TEXT,                               -- the process of the agent, to tell whether it still runs
    model         TEXT,
    version       TEXT,
    transcript    TEXT,                               -- the path of its transcript
    calls         INTEGER NOT NULL DEFAULT 0,         -- tool calls since the last session of the chain was closed
    failed        INTEGER NOT NULL DEFAULT 0,
    changed       INTEGER NOT NULL DEFAULT 0 CHECK (changed IN (0, 1)),  -- 1: something changed in this turn
    message       TEXT,                               -- the last message of the last turn in which something changed
    message_kept  INTEGER NOT NULL DEFAULT 0 CHECK (message_kept IN (0, 1)),  -- 1: it is in the session already
    patched       TEXT,                               -- paths that a patch names, to be hashed at the next event
    recent        BLOB    NOT NULL DEFAULT x'',       -- digests of the last events, 8 bytes each
    reminded      INTEGER NOT NULL DEFAULT 0 CHECK (reminded IN (0, 1)),
    ended         INTEGER NOT NULL DEFAULT 0 CHECK (ended IN (0, 1)),  -- 1: nothing is expected of it any more
    seen_at       TEXT    NOT NULL,
    PRIMARY KEY (agent, agent_session)
) STRICT, WITHOUT ROWID;
CREATE INDEX agents_live ON agents (seen_at) WHERE ended = 0;
CREATE INDEX agents_reserved ON agents (reserved);

-- The sessions of each chain. Those of agents are nobody else's current session.
CREATE TABLE agent_chains (
    session_id    TEXT    NOT NULL PRIMARY KEY REFERENCES audit_sessions (session_id),
    agent         TEXT    NOT NULL,
    agent_session TEXT    NOT NULL,
    by_itself     INTEGER NOT NULL DEFAULT 0 CHECK (by_itself IN (0, 1))  -- 1: closed without being asked
) STRICT, WITHOUT ROWID;

INSERT INTO agents (agent, agent_session, worktree, reserved, session_id, reminded, seen_at)
SELECT agent, agent_session, '', session_id, session_id, reminded, started_at
FROM agent_sessions JOIN audit_sessions USING (session_id) WHERE agent NOT GLOB 'mcp:*';
-- Only those that an agent's hook opened. A person's session that an agent worked in stays the person's.
INSERT INTO agent_chains (session_id, agent, agent_session)
SELECT session_id, min(agent), min(agent_session) FROM agents
WHERE (SELECT tool FROM audit_events WHERE audit_events.session_id = agents.session_id ORDER BY event_id LIMIT 1) = 'hook_session_start'
GROUP BY session_id;
DELETE FROM agents WHERE session_id NOT IN (SELECT session_id FROM agent_chains);
DELETE FROM worktree_sessions WHERE session_id IN (SELECT session_id FROM agent_chains);
DROP TABLE agent_sessions;

-- Prompts and checks that wait for a session to be opened.
CREATE TABLE agent_held (
    held          INTEGER PRIMARY KEY,
    agent         TEXT    NOT NULL,
    agent_session TEXT    NOT NULL,
    attests       INTEGER NOT NULL CHECK (attests IN (0, 1)),  -- 1: an observation, to be attested as it is; 0: a prompt
    text          TEXT    NOT NULL,
    at            TEXT    NOT NULL
) STRICT;
CREATE INDEX agent_held_by_agent ON agent_held (agent, agent_session);

-- Tool calls that have begun and not ended.
CREATE TABLE agent_calls (
    call          INTEGER PRIMARY KEY,
    agent         TEXT    NOT NULL,
    agent_session TEXT    NOT NULL,
    name          TEXT    NOT NULL,                   -- the id of the call, or a digest of what it was given
    worktree      TEXT    NOT NULL,
    command       TEXT    NOT NULL,                   -- the command line of a shell
    reflog        TEXT    NOT NULL,                   -- where HEAD's reflog ended when it began
    shared        INTEGER NOT NULL CHECK (shared IN (0, 1)),  -- 1: a call of another agent was open meanwhile
    at            TEXT    NOT NULL
) STRICT;
CREATE INDEX agent_calls_by_worktree ON agent_calls (worktree);

-- Commits that a hook of ours has seen, or that were looked at in the reflog: they are attributed already, or nobody's.
CREATE TABLE seen_commits (
    commit_id TEXT NOT NULL PRIMARY KEY,
    at        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX seen_commits_by_time ON seen_commits (at);

-- Private entries that a person has decided to publish after all.
CREATE TABLE disclosed (
    record_id TEXT NOT NULL PRIMARY KEY REFERENCES thought_records (id),
    at        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
