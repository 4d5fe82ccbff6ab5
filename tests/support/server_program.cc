// SPDX-License-Identifier: Apache-2.0
#include "support/server_program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "support/process.h"

namespace allot::support {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void run(std::vector<std::string> command, const std::string& scratch) {
  // A server runs as root only with this option.
  if (::geteuid() == 0) command.emplace_back("--user=root");
  // In /tmp it would conflict with other tests' servers: at its start each removes the temporary
  // tables there.
  ProcessOptions options;
  options.environment = {"TMPDIR=" + scratch};
  const std::string name = command.front();
  const Finished result = run_program(std::move(command), options);
  if (result.status != ExitStatus{0, 0}) {
    throw std::runtime_error(name + " failed:\n" + result.out + result.err);
  }
}

std::vector<std::string> mariadb_command() {
  return {"mariadbd", "--no-defaults", "--skip-name-resolve"};
}

// Small files, because each test makes its own server, and no second protocol. The binary log is
// on, as on most servers; the nonexistent replica of CommitStop may take an hour.
std::vector<std::string> mysql_command() {
  return {environment("ALLOT_TEST_MYSQLD"), "--no-defaults", "--skip-name-resolve", "--mysqlx=OFF",
          "--secure-file-priv=NULL", "--server-id=1", "--sync-binlog=0",
          "--plugin-load-add=semisync_source.so", "--loose-rpl-semi-sync-source-timeout=3600000",
          "--performance-schema=OFF",
          // Checkpoints of a smaller log dominate: with 8M they take a third of a processor.
          "--innodb-redo-log-capacity=32M", "--innodb-buffer-pool-size=64M"};
}

void make_mysql_data(const std::string& data, const std::string& scratch) {
  const std::string prepared = environment("ALLOT_TEST_MYSQL_DATA");
  if (prepared.empty()) {
    std::vector<std::string> command = mysql_command();
    command.insert(command.end(), {"--initialize-insecure", "--datadir=" + data});
    return run(std::move(command), scratch);
  }
  std::filesystem::copy(prepared, data, std::filesystem::copy_options::recursive);
  // Otherwise two servers would have the same identity.
  std::filesystem::remove(data + "/auto.cnf");
}

}  // namespace

bool on_mysql() {
  return !environment("ALLOT_TEST_MYSQLD").empty();
}

std::string server_name() {
  return on_mysql() ? "mysqld" : "mariadbd";
}

void make_data_folder(const std::string& data, const std::string& scratch) {
  if (on_mysql()) return make_mysql_data(data, scratch);
  run({"mariadb-install-db", "--no-defaults", "--datadir=" + data,
       "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve",
       "--force"},  // also for hosts without name resolution
      scratch);
}

std::vector<std::string> server_command(const std::string& data, const std::string& scratch) {
  std::vector<std::string> command = on_mysql() ? mysql_command() : mariadb_command();
  // nosync: tables are created by the hundred, and tests do not simulate power loss.
  command.insert(command.end(),
                 {"--datadir=" + data, "--tmpdir=" + scratch, "--max-allowed-packet=64M",
                  "--innodb-flush-method=nosync", "--default-time-zone=+05:45"});
  if (::geteuid() == 0) command.emplace_back("--user=root");
  return command;
}

std::vector<std::string> no_tls() {
  if (on_mysql()) return {"--tls-version=", "--auto-generate-certs=OFF"};
  return {"--skip-ssl"};
}

std::string reload_certificates() {
  return on_mysql() ? "ALTER INSTANCE RELOAD TLS" : "FLUSH SSL";
}

std::string isolation_variable() {
  return on_mysql() ? "transaction_isolation" : "tx_isolation";
}

std::vector<std::string> hostile_settings() {
  // "loose" marks options that only one kind of server has.
  return {"--sql-mode=ANSI,NO_BACKSLASH_ESCAPES",
          "--autocommit=0",
          "--transaction-isolation=SERIALIZABLE",
          "--transaction-read-only=1",
          "--character-set-server=gbk",
          "--loose-skip-character-set-client-handshake",  // removed in MySQL 9
          "--completion-type=CHAIN",
          "--default-storage-engine=MyISAM",
          "--innodb-lock-wait-timeout=600",
          "--group-concat-max-len=4",
          "--max-join-size=1",
          "--max-sort-length=8",
          "--div-precision-increment=0",
          "--lc-time-names=de_DE",
          "--loose-max-execution-time=1",
          "--loose-cte-max-recursion-depth=1",
          "--loose-max-recursive-iterations=1",
          "--loose-old-mode=ZERO_DATE_TIME_CAST"};
}

}  // namespace allot::support
