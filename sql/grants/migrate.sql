-- The installer: allot migrate, once and after each upgrade. The procedures run with its rights, so
-- the account has to stay.
CREATE USER 'allot_migrate'@'%' IDENTIFIED BY 'change-me';
GRANT CREATE, ALTER, INDEX, DROP, REFERENCES, SELECT, INSERT, UPDATE, DELETE ON allot.* TO 'allot_migrate'@'%';
GRANT CREATE ROUTINE, ALTER ROUTINE, EXECUTE ON allot.* TO 'allot_migrate'@'%';
