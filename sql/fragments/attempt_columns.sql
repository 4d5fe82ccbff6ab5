-- Columns of a failed attempt.
queue_id, partition_no, prio, first_key, attempt, ended_at, cause, error,
                          detail, fault, error_group, log_lines, lock_host, lock_pid, runtime_us, cpu_us,
                          max_rss_kib
