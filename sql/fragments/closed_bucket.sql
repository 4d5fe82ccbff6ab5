-- A bucket that lets no task start now (S44).
next_free BETWEEN {now} + 1 AND {now} + GREATEST(interval_us, 100000)
