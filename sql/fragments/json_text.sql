-- A string in a JSON value. JSON_UNQUOTE of some MariaDB versions turns characters beyond U+FFFF into
-- '?' (MDEV-35614); JSON_VALUE of MySQL stops at 512 characters.
/*!80000 JSON_UNQUOTE(JSON_EXTRACT({arg})) */ /*M!100600 JSON_VALUE({arg}) */
