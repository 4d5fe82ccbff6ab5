-- Makes the task of a reservation, if the reservation is ours: decided by the row and not by ROW_COUNT(),
-- because the server may continue with this packet after its client was killed.
INSERT INTO task (queue_id, partition_no, prio, run_key, flags, expires_at, key_hash, type,
                  payload, headers)
SELECT :placed_queue, partition_no, prio, first_key, :flags, :expires, :key_hash, :type, :payload,
       :headers
  FROM task_unique
 WHERE queue_id = :queue_id AND unique_key = :unique_key AND reservation = :reservation;
