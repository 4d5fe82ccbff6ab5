-- Name of this server as server_identity stores it: part of note_server.sql and promote.sql. For a
-- node of Galera it ends with a number that is new each time it joins: mysql.wsrep_cluster_members
-- has it while the node is in the view.
LEFT(CONCAT_WS(' ', CONCAT(@@hostname, ':', @@port), @@server_id, @@datadir
       /*M!101000 , @@server_uid */ /*!80000 , @@server_uuid */,
       (SELECT CONCAT('node=', VARIABLE_VALUE)
          FROM /*M!100600 information_schema.GLOBAL_STATUS */ /*!80000 performance_schema.global_status */
         WHERE VARIABLE_NAME = 'wsrep_gcomm_uuid')), 1000)
