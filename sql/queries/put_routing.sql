-- Makes a routing, or changes its target.
INSERT INTO fireworq_routing (category, queue_name) VALUES (:category, :name)
    ON DUPLICATE KEY UPDATE queue_name = VALUES(queue_name);
