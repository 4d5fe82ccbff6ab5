-- allot_take_out in its own transaction, separate for the reason given in allot_reserve_key_autocommit.
{procedure allot_take_out_autocommit}(
  {end_parameters}
)
{internal MODIFIES SQL DATA}
{in_own_transaction CALL allot_take_out(p_queue_id, p_partition_no, p_prio, p_first_key, p_reason,
    p_as_done, p_result)}
