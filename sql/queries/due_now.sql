-- When a task is due, as a key without its tie-breaker: now. It is constant within a statement,
-- because UTC_TIMESTAMP is; so the keys of rows with one due time are consecutive.
({now} << 12)
