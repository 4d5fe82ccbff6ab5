-- allot_reserve_key in its own transaction, for callers without an open one. A separate procedure,
-- because a trigger may not call one that contains these statements.
{procedure allot_reserve_key_autocommit}(
  {key_parameters}
)
{internal MODIFIES SQL DATA}
{in_own_transaction CALL allot_reserve_key(p_queue_id, p_partition_no, p_prio, p_delay_us,
    p_run_at_us, p_unique_key, p_unique_for_us, p_expires_at, p_layout, p_key_hash, p_flags, p_type,
    p_payload, p_headers, p_first_key, p_existed)}
