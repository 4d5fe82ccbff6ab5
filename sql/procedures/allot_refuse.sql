-- Ends a call with a message for the caller. A condition holds 128 characters.
{procedure allot_refuse}(
  IN p_message LONGTEXT CHARACTER SET utf8mb4
)
{internal NO SQL}
BEGIN
  DECLARE v_message VARCHAR(128) CHARACTER SET utf8mb4 DEFAULT LEFT(p_message, 128);
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = v_message;
END;
