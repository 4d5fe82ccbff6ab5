-- Reduces a JSON object, or each object of a list, to its structure without values: "<", a colon
-- for each member, and ">". A repeated name has two colons: MySQL drops the first member as soon as
-- it parses the text as JSON. (MariaDB does not, and would be slow here.)
{procedure allot_skeleton}(
  IN p_json LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_skeleton LONGTEXT CHARACTER SET latin1 COLLATE latin1_bin
)
{internal NO SQL}
BEGIN
  DECLARE v_escape VARCHAR(1) CHARACTER SET utf8mb4 DEFAULT CHAR(92 USING utf8mb4);
  DECLARE v_bytes LONGBLOB;
  DECLARE v_piece LONGTEXT CHARACTER SET latin1 COLLATE latin1_bin;
  DECLARE v_in_string BOOLEAN DEFAULT FALSE;
  DECLARE v_at, v_length BIGINT DEFAULT 1;
  -- Removes escaped backslashes first, then escaped quotes: after that each quote begins or ends a
  -- string. Replaces brackets, so that they mean nothing in a regular expression's character set.
  SET v_bytes = REPLACE(REPLACE(p_json, CONCAT(v_escape, v_escape), ''),
                        CONCAT(v_escape, '"'), ''),
      p_skeleton = '';
  -- In pieces, because MySQL ends a regular expression that matches too often (regexp_time_limit).
  WHILE v_at <= LENGTH(v_bytes) DO
    SET v_piece = CONCAT(IF(v_in_string, '"', ''),
                         CONVERT(SUBSTRING(v_bytes, v_at, 32768) USING latin1)),
        v_at = v_at + 32768,
        v_in_string = (LENGTH(v_piece) - LENGTH(REPLACE(v_piece, '"', ''))) % 2,
        v_piece = REGEXP_REPLACE(CONCAT(v_piece, IF(v_in_string, '"', '')), '"[^"]*+"', ''),
        v_piece = REPLACE(REPLACE(v_piece, '{', '<'), '}', '>'),
        v_piece = REPLACE(REPLACE(v_piece, '[', '('), ']', ')'),
        v_piece = REGEXP_REPLACE(v_piece, '[^<>():]++', ''),
        -- Unpacks a list.
        p_skeleton = IF(p_skeleton = '' AND v_piece LIKE '(%', CONCAT('|', SUBSTRING(v_piece, 2)),
                        CONCAT(p_skeleton, v_piece)),
        v_length = IF(p_skeleton LIKE '%(%' OR p_skeleton LIKE '%:<%', -1, LENGTH(p_skeleton));
    -- Removes values that are lists or objects, from the inside out.
    WHILE LENGTH(p_skeleton) <> v_length DO
      SET v_length = LENGTH(p_skeleton),
          p_skeleton = REGEXP_REPLACE(p_skeleton, '[(][^()]*+[)]|(?<=[:(])(<[^<>]*+>)++', '');
    END WHILE;
  END WHILE;
  SET p_skeleton = REPLACE(REPLACE(p_skeleton, '|', ''), ')', '');
END;
