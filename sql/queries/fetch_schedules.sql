-- For the steward: submissions of due schedules. Read once for each version, but large payloads
-- each time, so that the steward does not keep all of them.
SELECT schedule_id, version, name, expression, zone, queue, type,
       IF(OCTET_LENGTH(payload) > :inline_limit, '', payload),
       {schedule_columns},
       OCTET_LENGTH(payload)
  FROM schedule
 WHERE schedule_id IN (:schedule_ids);
