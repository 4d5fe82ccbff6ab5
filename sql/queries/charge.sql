-- For careful mode, and for the settler after a first crash: records the attempt and keeps the key
-- (S7, S10). Numbers are absolute, so that a repeat after a lost reply charges nothing twice. A
-- charge gives a minimum: it never lowers what others have charged since. A return gives a maximum.
-- :keep_flags are the bits of the task's flags that survive the attempt. A task that has started
-- (:begun) no longer expires (A14).
-- Rule: S63.
UPDATE task
   SET attempt = GREATEST(LEAST(attempt, :at_most), :at_least), flags = flags & :keep_flags,
       expires_at = IF(:begun, NULL, expires_at)
 WHERE {this_task}
   AND {fence};
