INSERT INTO task (queue_id, partition_no, prio, run_key, expires_at, flags, key_hash,
                  type, payload, headers)
VALUES :rows;
