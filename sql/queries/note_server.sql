-- Records the identity of this server if another one wrote last (S48), with the time of its own
-- clock, and gives it the next term (S52). A time ahead of the clock was written before the clock
-- was set back: it is written again; otherwise takeovers would wait for that long. The very first
-- row is not a change. A node of Galera fails here (1690, out of range) while the node that the row
-- names is in the view (:other_node). identity comes after what depends on its former value.
INSERT INTO server_identity (only_row, identity, term, since, streak)
VALUES (1, :server_name, 1, '2025-01-01', 0)
    ON DUPLICATE KEY UPDATE
       streak = IF(identity = VALUES(identity), streak,
                   IF(ABS(TIMESTAMPDIFF(SECOND, since, UTC_TIMESTAMP(6))) < 600, streak + 1, 1)),
       term = IF(identity = VALUES(identity), term, term + 1 + :other_node),
       since = IF(identity = VALUES(identity) AND since <= UTC_TIMESTAMP(6), since, UTC_TIMESTAMP(6)),
       identity = VALUES(identity);
