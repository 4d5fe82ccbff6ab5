-- A repeat after a lost reply keeps the time at which the attempt ended: it depends on the former
-- cause.
ended_at = IF(task_attempt.cause = VALUES(cause), ended_at, VALUES(ended_at)),
                            cause = VALUES(cause), error = VALUES(error),
                            detail = VALUES(detail), fault = VALUES(fault),
                            error_group = VALUES(error_group),
                            log_lines = VALUES(log_lines),
                            runtime_us = VALUES(runtime_us), cpu_us = VALUES(cpu_us),
                            max_rss_kib = VALUES(max_rss_kib)
