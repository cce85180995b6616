-- Search takes entries up by the batch: to index each one alone doubled the time of recording it. What has not been
-- taken up yet, fewer than a batch, is taken up by the next search.
CREATE TABLE search_state (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    upto INTEGER NOT NULL                             -- entries up to this `seq` are in the index
) STRICT;
INSERT INTO search_state (one, upto) VALUES (1, (SELECT coalesce(max(seq), 0) FROM thought_records));

DROP TRIGGER thought_records_indexed;
CREATE TRIGGER thought_records_indexed AFTER INSERT ON thought_records
WHEN NEW.seq - (SELECT upto FROM search_state) >= 64
BEGIN
    INSERT INTO thought_records_fts (rowid, content, metadata)
    SELECT seq, content, metadata FROM thought_records
    WHERE seq > (SELECT upto FROM search_state) AND line IS NOT NULL ORDER BY seq;
    UPDATE search_state SET upto = NEW.seq;
END;

DROP TRIGGER thought_records_unindexed;
CREATE TRIGGER thought_records_unindexed AFTER UPDATE ON thought_records
WHEN OLD.line IS NOT NULL AND NEW.line IS NULL AND OLD.seq <= (SELECT upto FROM search_state)
BEGIN
    INSERT INTO thought_records_fts (thought_records_fts, rowid, content, metadata)
    VALUES ('delete', OLD.seq, OLD.content, OLD.metadata);
END;
