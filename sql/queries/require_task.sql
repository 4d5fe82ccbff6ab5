-- Fence of a handler's own writes, and of the tasks that replace its own (S6): fails (1690, out of
-- range) if the task has another holder or is gone. Then the server does not reach COMMIT, which
-- comes after it in the same packet, and the condition is data. Comes after all that the handler
-- did, so that a long transaction does not prevent the renewal of its own lease.
SELECT ~0 + (COUNT(*) = 0)
  FROM task
 WHERE {this_task}
   AND {fence}
   FOR UPDATE;
