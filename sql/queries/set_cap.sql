-- Limits the tasks of a spread queue that run at a time, from the next leases on (S51); 0: no
-- limit.
UPDATE queue SET cap = :cap WHERE queue_id = :queue_id AND placement = 'spread';
