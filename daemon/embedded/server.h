// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

namespace allot::embedded {

// Private MariaDB below one folder: DIR/data, DIR/tmp, DIR/error.log. Its socket is in DIR/data,
// which is closed to other users, because every client of the socket is root of the database.
class Server {
 public:
  // Throws Error(kExitConfig) if DIR is too long for a socket path, or if MariaDB's programs are
  // not installed.
  explicit Server(std::string folder, bool binary_log = false);

  [[nodiscard]] std::string socket() const { return data() + "/sock"; }

  // Creates the data folder if it is missing. A kill in between does not leave a folder that looks
  // complete.
  void initialise() const;

  // Starts mariadbd, which ends when this process ends; returns its pid.
  pid_t start() const;

  // Tries to connect once. False: the server does not respond yet.
  [[nodiscard]] bool answers() const;

  // Creates Allot's database and brings its schema up to date.
  void prepare() const;

  // The log to read if the server did not start.
  [[nodiscard]] std::string error_log() const { return folder_ + "/error.log"; }

 private:
  [[nodiscard]] std::string data() const { return folder_ + "/data"; }
  [[nodiscard]] std::string scratch() const { return folder_ + "/tmp"; }

  std::string folder_;
  bool binary_log_;
  std::string server_program_;
  std::string install_program_;
};

}  // namespace allot::embedded
