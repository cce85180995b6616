-- The random bytes that go before the text of a packed note where it is committed to. They are published nowhere: without
-- them, nobody can confirm a guess of the text. NULL for a note that the first version packed: the hash of its text alone
-- was attested.
ALTER TABLE memory_long_term ADD COLUMN salt BLOB CHECK (salt IS NULL OR length(salt) = 32);
