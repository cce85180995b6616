-- The index of paths may lack commits that were left for later. What it had is made anew by the next `sync`.
DELETE FROM path_commits;
DROP TABLE path_commits_tip;
CREATE TABLE path_commits_tip (
    only_one INTEGER NOT NULL PRIMARY KEY CHECK (only_one = 1),
    tip      TEXT    NOT NULL,                        -- the commit of the base branch up to which they were looked at
    number   INTEGER NOT NULL,                        -- the highest number that was given
    is_whole INTEGER NOT NULL                         -- 0: commits before it were left for later
) STRICT, WITHOUT ROWID;
