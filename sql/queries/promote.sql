-- Makes this server the writer by an operator's word (S52): its term becomes larger than every term that is
-- known. Takeovers wait as after any change of server (S48).
INSERT INTO server_identity (only_row, identity, number, since, streak)
VALUES (1, :server_name, :known_term + 1, UTC_TIMESTAMP(6), 1)
    ON DUPLICATE KEY UPDATE
       identity = VALUES(identity),
       number = GREATEST(number + 1, VALUES(number)),
       since = UTC_TIMESTAMP(6),
       streak = 1;
