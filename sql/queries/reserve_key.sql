-- Reserves unique keys before their tasks are made. A key that is taken, or whose reservation has not
-- ended, stays with its task: then the reservation is not ours. Rows are in the order of their keys, so
-- that two batches lock in the same order. A reservation longer than unique_for_us comes from a clock
-- that was ahead, and is cut to unique_for_us from now on (S58). free_at decides, so it comes last; it reads
-- unique_for_us only where that stays.
INSERT INTO task_unique (queue_id, unique_key, partition_no, prio, first_key, reservation, unique_for_us)
VALUES :rows
    ON DUPLICATE KEY UPDATE
       partition_no = IF(free_at <= UTC_TIMESTAMP(6), VALUES(partition_no), partition_no),
       prio = IF(free_at <= UTC_TIMESTAMP(6), VALUES(prio), prio),
       first_key = IF(free_at <= UTC_TIMESTAMP(6), VALUES(first_key), first_key),
       reservation = IF(free_at <= UTC_TIMESTAMP(6), VALUES(reservation), reservation),
       unique_for_us = IF(free_at <= UTC_TIMESTAMP(6), VALUES(unique_for_us), unique_for_us),
       free_at = IF(free_at <= UTC_TIMESTAMP(6), NULL,
                    LEAST(free_at, UTC_TIMESTAMP(6) + INTERVAL unique_for_us MICROSECOND));
