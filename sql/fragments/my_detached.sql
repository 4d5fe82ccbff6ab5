-- A detached task run by the caller: its row is its lease (S20).
{this_id}
   AND epoch = :epoch AND lock_by = :holder
