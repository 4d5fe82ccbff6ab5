-- Tasks in partitions that get no new tasks; also bounded.
SELECT COUNT(*)
  FROM (SELECT 1 FROM task
         WHERE queue_id = :queue_id AND partition_no >= :partitions LIMIT :limit) AS bounded;
