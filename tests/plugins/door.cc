// SPDX-License-Identifier: Apache-2.0
//
// Handlers that write their payload byte for byte, or submit a task.
//   [plugins.door]
//   output = "FOLDER"   where door.keep.* leaves each payload, in a file named as the type
#include <allot/plugin.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace {

// A reader that waits for the file finds all of it.
void put(const std::string& file, std::string_view bytes) {
  {
    std::ofstream out(file + ".new", std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error(file + " cannot be written");
  }
  if (std::rename((file + ".new").c_str(), file.c_str()) != 0) throw std::runtime_error(file);
}

class Keep : public allot::Handler {
 public:
  explicit Keep(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    put(output_ + "/" + std::string(ctx.type()), ctx.payload());
    return allot::success();
  }

 private:
  std::string output_;
};

// payload: FILE, with queue, type, unique key, partition key (empty: none) and delay in seconds, a
// NUL after each, and then the payload of the task to submit. What came of it goes to FILE.told.
class Pass : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    const std::string file(ctx.payload());
    std::ifstream in(file, std::ios::binary);
    const auto field = [&in] {
      std::string text;
      std::getline(in, text, '\0');
      return text;
    };
    allot::Submission task;
    task.queue = field();
    task.type = field();
    if (const std::string key = field(); !key.empty()) task.unique_key = key;
    if (const std::string key = field(); !key.empty()) task.partition_key = key;
    task.delay = std::chrono::seconds(std::atoi(field().c_str()));
    task.payload.assign(std::istreambuf_iterator<char>(in), {});
    try {
      ctx.submit(task);
      put(file + ".told", "");
    } catch (const allot::CallError& error) {
      put(file + ".told", "code " + std::to_string(error.code()) + ": " + error.what());
    }
    return allot::success();
  }
};

ALLOT_HANDLER("door.keep.*", Keep)
ALLOT_HANDLER("door.pass", Pass)

}  // namespace
