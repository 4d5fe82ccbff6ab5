-- Returns unused starts of a grant, with the release of their partition. Only while the grant is
-- valid; otherwise the queue would exceed its rate later. A second call cannot be recognised, so it
-- is sent once (S43).
UPDATE queue_bucket
   SET next_free = next_free - :unused * interval_us
 WHERE queue_id = :queue_id AND bucket_no = :bucket_no
   AND {now}
         BETWEEN :charged_at AND :charged_at + 200000;
