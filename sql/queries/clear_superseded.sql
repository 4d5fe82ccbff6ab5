-- Removes the marks of mark_superseded.sql from a server whose term is now the highest.
UPDATE queue
   SET superseded_by = NULL
 WHERE queue_id > 0
   AND superseded_by <= (SELECT term FROM server_identity WHERE only_row = 1);
