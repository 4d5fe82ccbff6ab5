-- For people: newest first, before a number. Columns as in find_bulk.sql.
SELECT {bulk_columns}
  FROM bulk_action
 WHERE action_id < :before
 ORDER BY action_id DESC
 LIMIT :limit;
