-- For careful mode, and for the settler after a first crash: the attempt is written, the key stays
-- (S7, S10). Numbers are absolute, so that a repeat after a lost reply charges nothing twice. A
-- charge knows the least: it never lowers what others charged meanwhile. A return knows the most.
-- :keep_flags are those bits of the task's flags that outlast the attempt. A task that has begun
-- (:begun) does not expire any more (A14).
UPDATE task
   SET attempt = GREATEST(LEAST(attempt, :at_most), :at_least), flags = flags & :keep_flags,
       expires_at = IF(:begun, NULL, expires_at)
 WHERE {this_task}
   AND {fence};
