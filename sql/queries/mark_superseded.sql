-- Marks a server that takes writes although another one has a higher term (S53): submitters read
-- the mark with the queue. Checks its own term again, because it may have been promoted since.
UPDATE queue
   SET superseded_by = :term
 WHERE queue_id > 0 AND (superseded_by IS NULL OR superseded_by < :term)
   AND (SELECT term FROM server_identity WHERE only_row = 1) < :term;
