-- The last column: time until the next batch is due. A time further ahead than the interval of the
-- lowest rate counts as now: the clock was set back.
SELECT {bulk_columns}
  FROM bulk_action
 WHERE action_id = :action_id;
