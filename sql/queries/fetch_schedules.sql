-- For the steward: what the due ones submit. It asks once for each version, and for a payload that is
-- large each time, so that it does not keep all of them.
SELECT schedule_id, version, name, expression, zone, queue, type,
       IF(OCTET_LENGTH(payload) > :inline_limit, '', payload),
       {schedule_columns},
       OCTET_LENGTH(payload)
  FROM schedule
 WHERE schedule_id IN (:schedule_ids);
