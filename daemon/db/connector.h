// SPDX-License-Identifier: Apache-2.0
// One name for the connector's structs, without its header: MariaDB and MySQL name them
// differently.
#pragma once

#if __has_include(<mariadb_version.h>)
struct st_mysql;
struct st_mysql_res;
#else
struct MYSQL;
struct MYSQL_RES;
using st_mysql = MYSQL;
using st_mysql_res = MYSQL_RES;
#endif
