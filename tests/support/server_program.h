// SPDX-License-Identifier: Apache-2.0
// Which server the tests of this run start, and with which options: MariaDB, or MySQL. For
// support::Database; a test asks only what it has to know (on_mysql).
#pragma once

#include <string>
#include <vector>

namespace allot::support {

// The program of $ALLOT_TEST_MYSQLD is what this run tests on. scripts/mysql prints it.
bool on_mysql();

// "mariadbd" or "mysqld", for messages.
std::string server_name();

// Makes the data folder of a new server, whose root needs no password. `scratch` is for temporary
// files. Of MySQL it is a copy of $ALLOT_TEST_MYSQL_DATA, when that is set: to make one takes four
// seconds. Throws std::runtime_error.
void make_data_folder(const std::string& data, const std::string& scratch);

// The command that starts a server on `data`, without its network and without what a test adds.
std::vector<std::string> server_command(const std::string& data, const std::string& scratch);

// For a server that offers no TLS.
std::vector<std::string> no_tls();

// The statement after which the server shows the certificate that its files have now.
std::string reload_certificates();

// The name of the variable that has the isolation level.
std::string isolation_variable();

// For a server whose defaults are wrong for us in every way that a session can set right.
std::vector<std::string> hostile_settings();

}  // namespace allot::support
