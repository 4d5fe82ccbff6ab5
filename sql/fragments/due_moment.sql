-- Due time of a run key, in the format for people and programs.
DATE_FORMAT(DATE_ADD('2025-01-01', INTERVAL ({arg} >> 12) MICROSECOND), '%Y-%m-%dT%H:%i:%s.%fZ')
