-- Assignments run left to right: of_epoch is the new epoch, so it comes after it.
lock_by = :holder,
       lock_origin = :origin,
       lock_host = :host,
       lock_instance = :instance,
       lock_pid = :pid,
       state = 'LOCKED',
       expire_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND,
       of_epoch = epoch,
       ttl_us = :ttl_us
