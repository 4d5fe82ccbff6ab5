-- For metrics: number of held slots among the first :limit slots of named locks.
SELECT COALESCE(SUM(some.held), 0)
  FROM (SELECT state <> 'FREE' AS held FROM named_lock LIMIT :limit) AS some;
