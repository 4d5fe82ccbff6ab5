-- The highest due run key.
({known_now} << 12) + 4095
