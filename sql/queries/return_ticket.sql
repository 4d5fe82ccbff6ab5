DELETE FROM lock_ticket WHERE lock_by = :holder;
