-- Term of this server (S52), the name of the server that it was given to, and the term of the
-- server that has superseded this one, as a steward marked it (mark_superseded.sql).
SELECT term, identity, (SELECT MAX(superseded_by) FROM queue)
  FROM server_identity
 WHERE only_row = 1;
