-- Replaces what the checks of the database found (S90). The row of place 0
-- has the time of the look, also where nothing was found.
DELETE /*+ INDEX(finding PRIMARY) */ FROM finding WHERE place <= 1000;
INSERT INTO finding (place, found_at, level, about, queue, text, fix)
VALUES (0, UTC_TIMESTAMP(6), 'ok', '', NULL, '', '') :more_rows;
