-- Closes the queue to workers that do not know rates, before it has one (S42). Replaces its
-- buckets, whatever they held: each of the new ones lets one task start at once.
INSERT INTO queue_pause (queue_id, paused_at, reason, rated)
VALUES (:queue_id, UTC_TIMESTAMP(6), :rated_only, 1)
    ON DUPLICATE KEY UPDATE rated = 1;
INSERT INTO queue_rate (queue_id, per_second, burst, set_at)
VALUES (:queue_id, :per_second, :burst, UTC_TIMESTAMP(6))
    ON DUPLICATE KEY UPDATE per_second = VALUES(per_second), burst = VALUES(burst),
                            set_at = VALUES(set_at);
DELETE FROM queue_bucket WHERE queue_id = :queue_id;
INSERT INTO queue_bucket (queue_id, bucket_no, interval_us, max_lag_us, max_grant, next_free)
VALUES :buckets;
