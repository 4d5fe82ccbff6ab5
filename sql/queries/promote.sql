-- Makes this server the writer on an operator's request (S52): its term becomes larger than every
-- known term, also by the mark of this server, and by two, because another server that takes writes
-- may still be given the next one (note_server.sql, by a host that does not know of this
-- promotion). Takeovers wait as after any server change (S48).
INSERT INTO server_identity (only_row, identity, term, since, streak)
VALUES (1, :server_name,
        GREATEST(:known_term, COALESCE((SELECT MAX(superseded_by) FROM queue), 0)) + 2, UTC_TIMESTAMP(6), 1)
    ON DUPLICATE KEY UPDATE
       identity = VALUES(identity),
       term = GREATEST(term + 2, VALUES(term)),
       since = UTC_TIMESTAMP(6),
       streak = 1;
