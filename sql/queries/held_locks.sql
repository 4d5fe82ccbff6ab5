-- For metrics: how many slots of named locks are held, of the first :most slots that there are.
SELECT COALESCE(SUM(some.held), 0)
  FROM (SELECT state <> 'FREE' AS held FROM named_lock LIMIT :most) AS some;
