// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

namespace allot::embedded {

// The private MariaDB below one folder: DIR/data, DIR/tmp, DIR/error.log. Its socket is in
// DIR/data, which nobody else may enter: whoever reaches it is root of the database.
class Server {
 public:
  // Throws Error(kExitConfig) when DIR is too long for a socket's path, or when MariaDB's programs
  // are not installed.
  explicit Server(std::string folder, bool binary_log = false);

  [[nodiscard]] std::string socket() const { return data() + "/sock"; }

  // Makes the data folder if there is none. A kill half way leaves nothing that looks finished.
  void initialise() const;

  // Starts mariadbd, which ends when this process does; returns its pid.
  pid_t start() const;

  // Tries to connect once. False: the server does not answer yet.
  [[nodiscard]] bool answers() const;

  // Makes Allot's database and brings its schema up to date.
  void prepare() const;

  // The file to read when the server did not start.
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
