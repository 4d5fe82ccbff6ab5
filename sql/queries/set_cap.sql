-- So many tasks of a spread queue run at a time from the next leases on (S51); 0: any number.
UPDATE queue SET cap = :cap WHERE queue_id = :queue_id AND placement = 'spread';
