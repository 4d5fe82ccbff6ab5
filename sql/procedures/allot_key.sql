-- Key of a task: its due time in microseconds since 2025 by this server's clock, and a salt, as in
-- queries/due_*.sql.
{procedure allot_key}(
  IN p_delay_us BIGINT,
  IN p_run_at_us BIGINT,                                -- NULL: p_delay_us decides
  OUT p_run_key BIGINT UNSIGNED
)
{internal NO SQL}
BEGIN
  DECLARE v_now_us BIGINT DEFAULT {now};
  -- Adds up to 66 ms; otherwise many tasks with one due time would compete for the same keys.
  SET p_run_key = GREATEST(v_now_us + p_delay_us,
                           COALESCE(p_run_at_us + (v_now_us & 65535), 0)) << 12;
  -- Integer operations only: FLOOR(RAND() * 4096) would be a DOUBLE, and the key would be rounded.
  SET p_run_key = p_run_key + (CRC32(RAND()) & 4095);
END;
