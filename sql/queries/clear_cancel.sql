-- Deletes the requests for ended tasks. No fence; leaves tasks alone that exist anywhere else, as
-- in stamp_unique.sql. :first_keys as there.
-- Rule: S6.
DELETE /*+ INDEX(task_cancel PRIMARY) */ FROM task_cancel
 WHERE {these_ids}
   AND {gone task_cancel};
