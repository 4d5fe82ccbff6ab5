-- Number of tasks of a pattern with a unique key of this queue, up to :limit: they keep it when a
-- route sends later tasks to another queue, where the same key is free.
SELECT COUNT(*)
  FROM (SELECT 1
          FROM task_unique AS owner
          LEFT JOIN task_moved AS moved
            ON moved.queue_id = owner.queue_id AND moved.partition_no = owner.partition_no
           AND moved.prio = owner.prio AND moved.first_key = owner.first_key
          LEFT JOIN task
            ON task.queue_id = owner.queue_id AND task.partition_no = owner.partition_no
           AND task.prio = owner.prio AND task.run_key = COALESCE(moved.run_key, owner.first_key)
          LEFT JOIN task_running AS running
            ON running.queue_id = owner.queue_id AND running.partition_no = owner.partition_no
           AND running.prio = owner.prio AND running.first_key = owner.first_key
         WHERE owner.queue_id = :queue_id AND owner.free_at IS NULL
           AND :pattern = IF(:is_prefix,
                             LEFT(COALESCE(task.type, running.type), CHAR_LENGTH(:pattern)),
                             COALESCE(task.type, running.type))
         LIMIT :limit) AS bounded;
