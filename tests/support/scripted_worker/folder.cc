// SPDX-License-Identifier: Apache-2.0
#include "support/scripted_worker/folder.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <fstream>

#include "base/posix.h"

namespace allot::scripted {

Folder::Folder(const std::string& script_file)
    : folder_(script_file.substr(0, script_file.rfind('/'))) {
  std::ifstream file(path("script"));
  for (std::string line; std::getline(file, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) values_[line.substr(0, equals)] = line.substr(equals + 1);
  }
}

std::string Folder::text(const std::string& key, const std::string& otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? otherwise : found->second;
}

int Folder::number(const std::string& key, int otherwise) const {
  const std::string value = text(key);
  return value.empty() ? otherwise : std::stoi(value);
}

void Folder::tell(const std::string& text) const {
  const UniqueFd file(
      open(path("events").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  write_all(file.get(), (text + "\n").data(), text.size() + 1);
}

std::string Folder::take_command(const std::string& who) const {
  const std::string file = path("do." + who);
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return {};
  unlink(file.c_str());
  return line;
}

void Folder::pass_gate(const std::string& key) const {
  const std::string gate = text(key);
  if (gate.empty()) return;
  while (access(path(gate).c_str(), F_OK) != 0) poll(nullptr, 0, 5);
}

}  // namespace allot::scripted
