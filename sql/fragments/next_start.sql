-- Microseconds until a rate lets a task start.
GREATEST(0, MIN(IF({too_far}, 0, next_free - {now})))
