-- A time in the format for people and programs.
DATE_FORMAT({arg}, '%Y-%m-%dT%H:%i:%s.%fZ')
