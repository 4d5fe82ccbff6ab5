-- For metrics: number of held slots among the first :most slots of named locks.
SELECT COALESCE(SUM(some.held), 0)
  FROM (SELECT state <> 'FREE' AS held FROM named_lock LIMIT :most) AS some;
