INSERT INTO task (queue_id, partition_no, prio, run_key, expires_at, flags, type,
                  payload)
VALUES :rows;
