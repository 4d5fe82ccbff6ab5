-- Claims unique keys before their tasks are made. A key that is taken, or whose reservation has not
-- ended, stays with its task: then the claim is not ours. Rows are in the order of their keys, so
-- that two batches lock in the same order. A reservation longer than keep_us comes from a clock
-- that was ahead, and is cut to keep_us from now on (S58). free_at decides, so it comes last; it reads
-- keep_us only where that stays.
INSERT INTO task_unique (queue_id, unique_key, partition_no, prio, first_key, claim, keep_us)
VALUES :rows
    ON DUPLICATE KEY UPDATE
       partition_no = IF(free_at <= UTC_TIMESTAMP(6), VALUES(partition_no), partition_no),
       prio = IF(free_at <= UTC_TIMESTAMP(6), VALUES(prio), prio),
       first_key = IF(free_at <= UTC_TIMESTAMP(6), VALUES(first_key), first_key),
       claim = IF(free_at <= UTC_TIMESTAMP(6), VALUES(claim), claim),
       keep_us = IF(free_at <= UTC_TIMESTAMP(6), VALUES(keep_us), keep_us),
       free_at = IF(free_at <= UTC_TIMESTAMP(6), NULL,
                    LEAST(free_at, UTC_TIMESTAMP(6) + INTERVAL keep_us MICROSECOND));
