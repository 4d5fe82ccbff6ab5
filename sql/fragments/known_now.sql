-- Never earlier than the latest time the worker has seen: :known_us is 0 unless the clock was set
-- back (worker/lease/database_clock.h).
GREATEST({now}, :known_us)
