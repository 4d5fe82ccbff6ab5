-- Takes a free partition of a queue that is not paused.
-- Rule: S42.
{take_free}
   AND (lock_by = :holder OR (SELECT 1 FROM queue_pause WHERE queue_id = :queue_id) IS NULL)
   AND {unlocked :nowait};
{read_lease};
