-- Like lease.sql, for a rated queue and workers that charge for their starts (charge_rate.sql): a
-- row in queue_pause that only says *rated* stops nothing here, and nothing is leased while no task
-- may start (by a read that locks no bucket).
-- Rule: S44.
{take_free}
   AND (lock_by = :holder
        OR (SELECT 1 FROM queue_pause WHERE queue_id = :queue_id AND paused) IS NULL
           AND (SELECT COUNT(*) FROM queue_bucket
                 WHERE queue_id = :queue_id
                   AND NOT {closed_bucket}) > 0)
   AND {unlocked :nowait};
{read_lease};
