-- Matches the task of an attempt in the table that the argument names.
{arg}.queue_id = task_attempt.queue_id
           AND {arg}.partition_no = task_attempt.partition_no
           AND {arg}.prio = task_attempt.prio
           AND {arg}.first_key = task_attempt.first_key
