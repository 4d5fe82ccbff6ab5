-- Deletes a queue for Fireworq's programs: its tasks and its routings stay. The pause of an
-- operator stays (put_fireworq.sql); reason comes last, because `paused` is computed from it.
UPDATE fireworq_queue SET hidden_at = UTC_TIMESTAMP(6)
 WHERE queue_id = :queue_id AND hidden_at IS NULL;
INSERT INTO queue_pause (queue_id, paused_at, reason)
VALUES (:queue_id, UTC_TIMESTAMP(6), :hidden)
    ON DUPLICATE KEY UPDATE paused_at = IF(paused, paused_at, VALUES(paused_at)),
                            reason = IF(paused, reason, VALUES(reason));
