-- The fence of what a handler wrote itself, and of the tasks that replace its own (S6): it fails
-- (1690, out of range) where the task is not this holder's, or gone. Then the server does not reach
-- COMMIT, which comes after it in the same packet, and the condition is data. It comes after all
-- that the handler did, so that a long transaction does not keep its own lease from being renewed.
SELECT ~0 + (COUNT(*) = 0)
  FROM task
 WHERE {this_task}
   AND {fence}
   FOR UPDATE;
