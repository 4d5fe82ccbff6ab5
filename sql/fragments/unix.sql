-- A time in microseconds since 1970, as C++ reads it.
TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {arg})
