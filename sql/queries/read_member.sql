-- Role and state of this server in its group (Group Replication), for read_role.sql. Needs a right
-- on performance_schema; without it the read-only switches decide.
SELECT MEMBER_STATE, MEMBER_ROLE
  FROM performance_schema.replication_group_members
 WHERE MEMBER_ID = @@server_uuid OR MEMBER_ID = ''
 ORDER BY MEMBER_ID DESC LIMIT 1;
