-- Counts the tasks that run before a task in its partition: due tasks of earlier classes, and
-- tasks of its own class with a smaller key. As in fetch.sql, each class is a range of the key.
SELECT COUNT(*)
  FROM (SELECT 1
          FROM task
         WHERE queue_id = :queue_id AND partition_no = :partition_no
           AND (prio = :prio AND run_key < :run_key
                OR prio IN (:classes_before)
                   AND run_key <= ({now} << 12)
                                  + 4095)
         LIMIT :limit) AS bounded;
