-- What a failed attempt used, as far as somebody measured it (B13); NULL: nobody did. runtime_us is
-- inside the handler; cpu_us that of the worker meanwhile, and of the programs that it waited for;
-- max_rss_kib the most that the worker, or such a program, had ever held by then. The comments are
-- ones that MariaDB executes: a migration that was cut off is run again.
ALTER TABLE task_attempt
  ADD COLUMN /*M!100002 IF NOT EXISTS */ runtime_us  BIGINT UNSIGNED NULL,
  ADD COLUMN /*M!100002 IF NOT EXISTS */ cpu_us      BIGINT UNSIGNED NULL,
  ADD COLUMN /*M!100002 IF NOT EXISTS */ max_rss_kib BIGINT UNSIGNED NULL,
  ALGORITHM=INSTANT;
