-- Which session an agent's own session works in. An agent is known by the name of its hook and by the id that it gives
-- to its session; what it said and what its tools answered is not kept.
CREATE TABLE agent_sessions (
    agent         TEXT    NOT NULL,
    agent_session TEXT    NOT NULL,
    session_id    TEXT    NOT NULL REFERENCES audit_sessions (session_id),
    reminded      INTEGER NOT NULL DEFAULT 0 CHECK (reminded IN (0, 1)),  -- 1: asked once for a closing reflection
    PRIMARY KEY (agent, agent_session)
) STRICT, WITHOUT ROWID;
