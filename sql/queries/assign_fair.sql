-- Gives a key of a fair queue a partition (A9), one assignment at a time. If every partition belongs to
-- some key, keys whose partition has no task give theirs up; if there are none, the new key shares
-- the partition with the fewest keys. Runs once for each key that is new, was idle, or lost its
-- partition to a resize.
INSERT INTO fair_partition (queue_id, partition_key, partition_no) VALUES (:queue_id, '', 0)
    ON DUPLICATE KEY UPDATE partition_no = 0;
DELETE FROM fair_partition
 WHERE queue_id = :queue_id AND partition_key = :partition_key AND partition_no >= :partitions;
DELETE /*+ INDEX(fair_partition PRIMARY) */ FROM fair_partition
 WHERE queue_id = :queue_id AND partition_key > ''
   AND :partitions <= (SELECT taken.partitions
                         FROM (SELECT COUNT(DISTINCT partition_no) AS partitions
                                 FROM fair_partition
                                WHERE queue_id = :queue_id AND partition_key > ''
                                  AND partition_no < :partitions) AS taken)
   AND 0 = (SELECT mine.there  -- COUNT: with a row by its key MariaDB 11.8 reports error 1175
              FROM (SELECT COUNT(*) AS there
                      FROM fair_partition
                     WHERE queue_id = :queue_id AND partition_key = :partition_key) AS mine)
   AND (SELECT 1 FROM task
         WHERE task.queue_id = :queue_id
           AND task.partition_no = fair_partition.partition_no LIMIT 1) IS NULL;
INSERT IGNORE INTO fair_partition (queue_id, partition_key, partition_no)
SELECT :queue_id, :partition_key, lease.partition_no
  FROM q_lock_table AS lease
  LEFT JOIN (SELECT partition_no, COUNT(*) AS partition_keys
               FROM fair_partition
              WHERE queue_id = :queue_id AND partition_key > ''
              GROUP BY partition_no) AS taken
    ON taken.partition_no = lease.partition_no
 WHERE lease.queue_id = :queue_id AND lease.partition_no < :partitions
 ORDER BY COALESCE(taken.partition_keys, 0), lease.partition_no
 LIMIT 1;
SELECT partition_no
  FROM fair_partition
 WHERE queue_id = :queue_id AND partition_key = :partition_key
 LIMIT 1;
