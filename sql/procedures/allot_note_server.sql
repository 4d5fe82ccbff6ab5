-- Records the identity of this server, like note_server.sql (S48). Prepared, because the body of a
-- procedure keeps only the version comments that its creating server executed, and stays so after
-- an upgrade of that server: it would then compute another identity than note_server.sql. It never
-- takes the term over from another node of Galera: only Allot's own programs do, which know the
-- view.
{procedure allot_note_server}()
{internal MODIFIES SQL DATA}
BEGIN
  DECLARE EXIT HANDLER FOR 1690
    CALL allot_refuse('this Galera node is not the writer; connect to the one that server_identity names');
  PREPARE allot_note_server FROM '
    INSERT INTO server_identity (only_row, identity, term, since, streak)
    VALUES (1,
            LEFT(CONCAT_WS('' '', CONCAT(@@hostname, '':'', @@port), @@server_id, @@datadir
                   /*M!101000 , @@server_uid */ /*!80000 , @@server_uuid */,
                   (SELECT CONCAT(''node='', VARIABLE_VALUE)
                      FROM /*M!100600 information_schema.GLOBAL_STATUS */ /*!80000 performance_schema.global_status */
                     WHERE VARIABLE_NAME = ''wsrep_gcomm_uuid'')), 1000),
            1, ''2025-01-01'', 0)
        ON DUPLICATE KEY UPDATE
           streak = IF(identity = VALUES(identity), streak,
                       IF(ABS(TIMESTAMPDIFF(SECOND, since, UTC_TIMESTAMP(6))) < 600, streak + 1, 1)),
           term = IF(identity = VALUES(identity), term,
                       term + 1 + ~0 * (identity LIKE ''% node=%'' AND VALUES(identity) LIKE ''% node=%'')),
           since = IF(identity = VALUES(identity) AND since <= UTC_TIMESTAMP(6), since, UTC_TIMESTAMP(6)),
           identity = VALUES(identity)';
  EXECUTE allot_note_server;
  DEALLOCATE PREPARE allot_note_server;
END;
