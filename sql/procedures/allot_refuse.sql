-- Ends a call with a message for the caller. A condition holds 128 characters.
DROP PROCEDURE IF EXISTS /*!80000 allot_refuse */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_refuse(
  IN p_message LONGTEXT CHARACTER SET utf8mb4
)
NO SQL SQL SECURITY DEFINER
COMMENT 'Allot: not to be called from outside'
BEGIN
  DECLARE v_message VARCHAR(128) CHARACTER SET utf8mb4 DEFAULT LEFT(p_message, 128);
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = v_message;
END;
