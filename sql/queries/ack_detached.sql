-- Acknowledges a detached task. Its row is deleted last, because it is the fence of the statements
-- before. Its attempts stay if the queue keeps a history, which keep_detached.sql wrote before.
DELETE FROM task_moved
 WHERE {this_id}
   AND {detached_fence};
DELETE /*+ INDEX(task_attempt PRIMARY) */ FROM task_attempt
 WHERE {this_id}
   AND {detached_fence}
   AND (SELECT 1 FROM task_history
         WHERE {this_id}) IS NULL;
DELETE FROM task_running
 WHERE {my_detached};
