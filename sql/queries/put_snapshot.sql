-- Replaces the slot states of an instance.
INSERT INTO host_snapshot (origin, host, instance, writer, taken_at, state)
VALUES (:origin, :host, :instance, :holder, UTC_TIMESTAMP(6), :state)
    ON DUPLICATE KEY UPDATE host = VALUES(host), instance = VALUES(instance), writer = VALUES(writer),
                            taken_at = VALUES(taken_at), state = VALUES(state);
