-- Starts that a grant allowed and that nobody made, with the release of their partition. Within the
-- time for which the grant held, or the queue would exceed its rate later. Nothing tells a second
-- one from the first, so it is sent once (S43).
UPDATE queue_bucket
   SET next_free = next_free - :unused * interval_us
 WHERE queue_id = :queue_id AND bucket_no = :bucket_no
   AND {now}
         BETWEEN :charged_at AND :charged_at + 200000;
