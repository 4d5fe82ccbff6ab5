-- Writes down which server this is, when another one wrote last (S48), with its own clock's time. A
-- time ahead of the clock was written before the clock was set back: it is written anew, or takeovers
-- would wait for as long as that was. What the first row of all says is nobody's change. Assignments
-- run left to right: identity is the former one until it is set.
INSERT INTO server_identity (only_row, identity, number, since, streak)
VALUES (1,
        LEFT(CONCAT_WS(' ', CONCAT(@@hostname, ':', @@port), @@server_id, @@datadir
               /*M!101000 , @@server_uid */ /*!80000 , @@server_uuid */), 1000),
        1, '2025-01-01', 0)
    ON DUPLICATE KEY UPDATE
       streak = IF(identity = VALUES(identity), streak,
                   IF(ABS(TIMESTAMPDIFF(SECOND, since, UTC_TIMESTAMP(6))) < 600, streak + 1, 1)),
       number = IF(identity = VALUES(identity), number, number + 1),
       since = IF(identity = VALUES(identity) AND since <= UTC_TIMESTAMP(6), since, UTC_TIMESTAMP(6)),
       identity = VALUES(identity);
