-- For people: the last server change, and how long ago it was.
SELECT SUBSTRING_INDEX(identity, ' ', 1), term,
       DATE_FORMAT(since, '%Y-%m-%dT%H:%i:%sZ'), streak,
       GREATEST(TIMESTAMPDIFF(SECOND, since, UTC_TIMESTAMP(6)), 0)
  FROM server_identity
 WHERE only_row = 1;
