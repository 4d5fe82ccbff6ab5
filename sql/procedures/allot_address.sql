-- The queue for a task of a type submitted to a queue, or to none (NULL or empty), by the rules of
-- daemon/queue/submit/address.cc and queries/best_route.sql, and its layout at that time:
-- queries/placed_queue.sql checks that both are still current. Locking reads, because the caller's
-- snapshot may be older than the route.
{procedure allot_address}(
  INOUT p_queue LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_type LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  OUT p_queue_id INT UNSIGNED,
  OUT p_placement VARCHAR(15) CHARACTER SET utf8mb4,
  OUT p_layout INT UNSIGNED
)
{internal MODIFIES SQL DATA}
BEGIN
  DECLARE v_source_id INT UNSIGNED DEFAULT 0;
  DECLARE v_placement VARCHAR(15) CHARACTER SET utf8mb4 DEFAULT '';
  DECLARE v_layout INT UNSIGNED;
  DECLARE v_superseded_by BIGINT UNSIGNED;
  DECLARE v_routed BOOLEAN DEFAULT TRUE;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  IF LENGTH(p_queue) > 0 THEN
    SELECT queue_id, placement, layout, COALESCE(routed, TRUE), superseded_by
      INTO v_source_id, v_placement, v_layout, v_routed, v_superseded_by
      FROM queue
     WHERE name = p_queue AND LENGTH(name) = LENGTH(p_queue)  -- padding would make it equal
      LOCK IN SHARE MODE;
    IF v_source_id = 0 THEN
      CALL allot_refuse(CONCAT('queue ', QUOTE(LEFT(p_queue, 63)), ': unknown queue'));
    END IF;
  END IF;
  SET p_queue_id = v_source_id, p_placement = v_placement, p_layout = v_layout;
  IF v_routed THEN                                       -- S45: once
    -- Locks the routes first, like a change of routes, and no other queue.
    SELECT queue_id, name, placement, layout, superseded_by
      INTO p_queue_id, p_queue, p_placement, p_layout, v_superseded_by
      FROM queue
     WHERE queue_id = (SELECT route.target_id
                         FROM route
                        WHERE route.queue_id IN (0, v_source_id)
                          AND route.pattern = IF(route.is_prefix,
                                                 LEFT(p_type, CHAR_LENGTH(route.pattern)), p_type)
                          AND (route.queue_id = v_source_id
                               OR route.pattern <> ''
                                  AND (SELECT taker.placement FROM queue AS taker
                                        WHERE taker.queue_id = route.target_id
                                         LOCK IN SHARE MODE) = v_placement)
                        ORDER BY route.is_prefix, CHAR_LENGTH(route.pattern) DESC,
                                 route.queue_id DESC
                        LIMIT 1
                         LOCK IN SHARE MODE)
      LOCK IN SHARE MODE;
  END IF;
  IF v_superseded_by IS NOT NULL THEN                    -- S53
    CALL allot_refuse(CONCAT('this server is no longer the writer: another one has term ',
                             v_superseded_by, '; connect to the writer'));
  END IF;
  IF p_queue_id = 0 THEN
    CALL allot_refuse(CONCAT('queue ', COALESCE(QUOTE(p_queue), 'NULL'), ': no route takes type ',
                             QUOTE(p_type), ' without a queue'));
  END IF;
END;
