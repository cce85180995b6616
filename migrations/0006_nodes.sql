-- The nodes of a tree stand in the row of the entry that completes them: to record changes one page less, and to check
-- reads one table. What stays in `merkle_nodes` is what finalizing adds: the right edge, and in v1-sorted all nodes.

-- The inner nodes that this entry completes, 32 bytes each, upwards from level 1; NULL for none, and in v1-sorted.
ALTER TABLE thought_records ADD COLUMN nodes BLOB CHECK (nodes IS NULL OR (length(nodes) > 0 AND length(nodes) % 32 = 0));

DROP TRIGGER thought_records_fixed;
WITH RECURSIVE levels (level) AS (SELECT 1 UNION ALL SELECT level + 1 FROM levels WHERE level < 62)
UPDATE thought_records SET nodes = (
    SELECT unhex(group_concat(hex(node.hash), '' ORDER BY node.level))
    FROM levels CROSS JOIN merkle_nodes AS node ON node.session_id = thought_records.session_id
        AND node.level = levels.level AND node.node_index = ((thought_records.position + 1) >> levels.level) - 1
    WHERE (thought_records.position + 1) & ((1 << levels.level) - 1) = 0)
WHERE position % 2 = 1 AND session_id NOT IN (SELECT session_id FROM audit_sessions WHERE scheme = 'v1-sorted');

CREATE TRIGGER thought_records_fixed BEFORE UPDATE ON thought_records
WHEN OLD.seq IS NOT NEW.seq OR OLD.session_id IS NOT NEW.session_id OR OLD.position IS NOT NEW.position
    OR OLD.id IS NOT NEW.id OR OLD.parent_id IS NOT NEW.parent_id OR OLD.type IS NOT NEW.type
    OR OLD.timestamp IS NOT NEW.timestamp OR OLD.prev_hash IS NOT NEW.prev_hash
    OR OLD.content_hash IS NOT NEW.content_hash OR OLD.chain_hash IS NOT NEW.chain_hash OR OLD.nodes IS NOT NEW.nodes
    OR OLD.private IS NOT NEW.private OR OLD.last_event IS NOT NEW.last_event
    OR (OLD.line IS NOT NULL AND NEW.line IS NOT NULL)
    OR NOT EXISTS (SELECT 1 FROM zones WHERE session_id = OLD.session_id AND settled = 0
                   AND (zone = 'cold' OR (zone = 'frozen' AND NEW.line IS NULL)))
BEGIN SELECT raise(ABORT, 'an entry cannot be changed; only retention can blank its body and put it back'); END;

DROP TRIGGER merkle_nodes_kept;
DELETE FROM merkle_nodes
WHERE level > 0 AND session_id NOT IN (SELECT session_id FROM audit_sessions WHERE scheme = 'v1-sorted')
    AND EXISTS (SELECT 1 FROM thought_records AS entry WHERE entry.session_id = merkle_nodes.session_id
                AND entry.position = ((merkle_nodes.node_index + 1) << merkle_nodes.level) - 1);
CREATE TRIGGER merkle_nodes_kept BEFORE DELETE ON merkle_nodes
BEGIN SELECT raise(ABORT, 'a tree node cannot be deleted'); END;
