-- Reads a key of 1 to 255 bytes from the option `p_name`.
DROP PROCEDURE IF EXISTS /*!80000 allot_text */ /*M!100600 allot_replaced */;
CREATE /*M!100600 OR REPLACE */ PROCEDURE allot_text(
  IN p_name VARCHAR(31) CHARACTER SET utf8mb4,
  IN p_options LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_bytes LONGBLOB
)
NO SQL SQL SECURITY DEFINER
COMMENT 'Allot: not to be called from outside'
BEGIN
  IF JSON_TYPE(JSON_EXTRACT(p_options, CONCAT('$.', p_name))) <> 'STRING' THEN
    CALL allot_refuse(CONCAT('''', p_name, ''' must be a string'));
  END IF;
  -- JSON_UNQUOTE of some MariaDB versions turns characters beyond U+FFFF into '?' (MDEV-35614);
  -- JSON_VALUE of MySQL stops at 512 characters.
  SET p_bytes = /*!80000 JSON_UNQUOTE(JSON_EXTRACT(p_options, CONCAT('$.', p_name))) */
                /*M!100600 JSON_VALUE(p_options, CONCAT('$.', p_name)) */;
  IF LENGTH(p_bytes) NOT BETWEEN 1 AND 255 THEN
    CALL allot_refuse(CONCAT(p_name, ' of ', LENGTH(p_bytes), ' bytes: 1 to 255 are allowed'));
  END IF;
END;
