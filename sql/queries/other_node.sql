-- Part of note_server.sql on a node of Galera: too large a number while the node that the row names
-- is in the view of this one, otherwise 0.
~0 * COALESCE(FIND_IN_SET(SUBSTRING_INDEX(identity, ' node=', -1),
                          (SELECT GROUP_CONCAT(node_uuid) FROM mysql.wsrep_cluster_members)) > 0, 0)
