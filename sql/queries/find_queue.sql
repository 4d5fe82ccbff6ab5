-- Has a limit of its own, as each SELECT that a caller's session may get (client/client.cc,
-- submit_in): sql_select_limit of that session does not reach it.
SELECT queue_id, name, partitions, placement, max_running, first_partition, layout, routed,
       superseded_by
  FROM queue
 WHERE name = :name
 LIMIT 1;
