-- The first deferred tasks of a type and class that are not due yet, with their first keys.
SELECT run_key, COALESCE(first_key, run_key)
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio
   AND run_key BETWEEN GREATEST(:from_key,
         ({known_now} << 12) + 4096)
     AND :to_key
   AND type = :type AND flags & :no_handler_flag <> 0
 ORDER BY run_key
 LIMIT :limit;
