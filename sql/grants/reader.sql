-- A reader: every command that shows something.
CREATE USER 'allot_reader'@'%' IDENTIFIED BY 'change-me';
GRANT SELECT ON allot.* TO 'allot_reader'@'%';
