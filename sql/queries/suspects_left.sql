-- Is a task left that may have brought the former holder down? :classes are those not yet cleared.
SELECT 1
  FROM task
 WHERE queue_id = :queue_id AND partition_no = :partition_no
   AND prio IN (:classes) AND run_key <= :suspect_to
 LIMIT 1;
