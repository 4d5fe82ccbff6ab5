DELETE FROM queue_pause WHERE queue_id = :queue_id;
