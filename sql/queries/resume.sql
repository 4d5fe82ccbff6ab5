-- The row of a rated queue stays, for workers that do not know rates (S42).
UPDATE queue_pause SET reason = :rated_only
 WHERE queue_id = :queue_id AND rated AND paused;
DELETE FROM queue_pause WHERE queue_id = :queue_id AND NOT rated;
