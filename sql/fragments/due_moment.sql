-- When a run key is due, as people and programs read it.
DATE_FORMAT('2025-01-01' + INTERVAL ({arg} >> 12) MICROSECOND, '%Y-%m-%dT%H:%i:%s.%fZ')
