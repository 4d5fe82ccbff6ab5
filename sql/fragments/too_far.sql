-- A time further ahead than one grant reaches counts as now (S44).
next_free > {now} + GREATEST(interval_us, 100000)
