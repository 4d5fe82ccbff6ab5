-- Types of tasks deferred in a partition for lack of a handler, and the range of their keys (S65).
SELECT prio, type, from_key, to_key
  FROM deferred_type
 WHERE queue_id = :queue_id AND partition_no = :partition_no
 ORDER BY prio, type;
