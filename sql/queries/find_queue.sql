-- Has a limit of its own, as each SELECT that a caller's session may get (client/client.cc,
-- submit_in): sql_select_limit of that session does not reach it.
SELECT {queue_columns}
  FROM queue
 WHERE name = :name
 LIMIT 1;
