-- Runs before the last tasks of a type are called forward: no deferred task remains (S66).
DELETE /*+ INDEX(deferred_type PRIMARY) */ FROM deferred_type
 WHERE queue_id = :queue_id AND partition_no = :partition_no AND prio = :prio AND type = :type
   AND {fence};
