-- A time in microseconds since 1970, for C++.
TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {arg})
