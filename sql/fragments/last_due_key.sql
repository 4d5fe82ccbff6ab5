-- The highest run key that is due.
({known_now} << 12) + 4095
