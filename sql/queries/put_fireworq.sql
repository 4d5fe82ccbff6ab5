-- Makes, changes or brings back a queue of Fireworq's programs.
INSERT INTO fireworq_queue (queue_id, name, polling_interval, max_workers,
                            max_dispatches_per_second, max_burst_size)
VALUES (:queue_id, :name, :polling_interval, :max_workers, :rate, :burst)
    ON DUPLICATE KEY UPDATE polling_interval = VALUES(polling_interval),
       max_workers = VALUES(max_workers),
       max_dispatches_per_second = VALUES(max_dispatches_per_second),
       max_burst_size = VALUES(max_burst_size), hidden_at = NULL;
