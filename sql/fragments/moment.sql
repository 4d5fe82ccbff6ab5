-- A time as people and programs read it.
DATE_FORMAT({arg}, '%Y-%m-%dT%H:%i:%s.%fZ')
