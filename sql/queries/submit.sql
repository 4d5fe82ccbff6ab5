INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) VALUES :rows;
