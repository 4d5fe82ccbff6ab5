-- Runs before ack.sql in the same transaction, if the queue keeps a history (C10): writes one row
-- for each of these tasks that still exists. Tasks that a later holder moved, buried or finished
-- are left to that holder, and a repeat after a lost reply finds none of them. :done is a list of
-- prio, run_key, number of the attempt (0: one more than the row) and the resources it used. No ON
-- clause, because of the parser: ON DUPLICATE KEY follows. The rows are locked; otherwise a task
-- that is removed at the same time would be both dead and in the history. In a subquery, because
-- MySQL cannot lock a JSON_TABLE and MariaDB cannot name the tables of a join to lock.
INSERT INTO task_history (queue_id, partition_no, prio, first_key, attempt, type, ended_at,
                          lock_host, lock_pid, runtime_us, cpu_us, max_rss_kib, headers)
SELECT task.queue_id, task.partition_no, task.prio, COALESCE(task.first_key, task.run_key),
       COALESCE(NULLIF(done.attempt, 0), task.attempt + 1), task.type, UTC_TIMESTAMP(6),
       :host, :pid, done.runtime_us, done.cpu_us, done.max_rss_kib, task.headers
  FROM JSON_TABLE(:done, '$[*]' COLUMNS (
         prio TINYINT UNSIGNED PATH '$[0]', run_key BIGINT UNSIGNED PATH '$[1]',
         attempt INT UNSIGNED PATH '$[2]', runtime_us BIGINT UNSIGNED PATH '$[3]',
         cpu_us BIGINT UNSIGNED PATH '$[4]', max_rss_kib BIGINT UNSIGNED PATH '$[5]')) AS done
       STRAIGHT_JOIN task
 WHERE task.queue_id = :queue_id AND task.partition_no = :partition_no
   AND task.prio = done.prio AND task.run_key = done.run_key
   AND (SELECT 1 FROM task AS mine
         WHERE mine.queue_id = :queue_id AND mine.partition_no = :partition_no
           AND mine.prio = done.prio AND mine.run_key = done.run_key FOR UPDATE) = 1
    ON DUPLICATE KEY UPDATE ended_at = VALUES(ended_at);
