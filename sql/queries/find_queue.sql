-- Has its own limit, like each SELECT that a caller's session may run (client/client.cc,
-- submit_in): sql_select_limit of that session does not apply to it.
-- Rule: S64.
SELECT {queue_columns}
  FROM queue
 WHERE name = :name
 LIMIT 1;
