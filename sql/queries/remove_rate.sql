-- A queue that is also paused stays paused.
DELETE FROM queue_bucket WHERE queue_id = :queue_id;
DELETE FROM queue_rate WHERE queue_id = :queue_id;
DELETE FROM queue_pause WHERE queue_id = :queue_id AND rated AND NOT paused;
UPDATE queue_pause SET rated = 0 WHERE queue_id = :queue_id;
