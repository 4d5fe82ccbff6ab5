-- S2: no epoch is used twice, even if the row was restored from a backup.
detail_epoch = GREATEST(epoch + 1, {now}),
       epoch = GREATEST(epoch + 1, {now}),
       lock_by = :holder,
       lock_origin = :origin,
       lock_host = :host,
       lock_instance = :instance,
       lock_pid = :pid,
       state = 'LOCKED',
       expire_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND,
       ttl_us = :ttl_us
