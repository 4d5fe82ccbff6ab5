-- Term of another server that is the writer now, where a steward found this one still writable (S53);
-- NULL: no steward did. It is a column of the row that every submission reads.
ALTER TABLE queue ADD COLUMN superseded_by BIGINT UNSIGNED NULL, ALGORITHM=INSTANT;
