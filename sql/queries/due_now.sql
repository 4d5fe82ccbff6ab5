-- Due time of a task as a key without its tie-breaker: now. Constant within a statement, like
-- UTC_TIMESTAMP; so the keys of rows with one due time are consecutive.
({now} << 12)
