// SPDX-License-Identifier: Apache-2.0
// Choice and options of the server that the tests of this run start: MariaDB or MySQL. For
// support::Database; tests use only what they need (on_mysql).
#pragma once

#include <string>
#include <vector>

namespace allot::support {

// True if this run tests on the program of $ALLOT_TEST_MYSQLD, which scripts/mysql prints.
bool on_mysql();

// "mariadbd" or "mysqld", for messages.
std::string server_name();

// Creates the data folder of a new server, whose root needs no password. `scratch` is for temporary
// files. For MySQL it copies $ALLOT_TEST_MYSQL_DATA, if set, because a new one takes four seconds.
// Throws std::runtime_error.
void make_data_folder(const std::string& data, const std::string& scratch);

// Command that starts a server on `data`, without network options and options of the test.
std::vector<std::string> server_command(const std::string& data, const std::string& scratch);

// For a server that offers no TLS.
std::vector<std::string> no_tls();

// Statement that makes the server load its certificate files again.
std::string reload_certificates();

// Name of the variable with the isolation level.
std::string isolation_variable();

// Settings for a server whose defaults are wrong in every way that a session can correct.
std::vector<std::string> hostile_settings();

}  // namespace allot::support
