// SPDX-License-Identifier: Apache-2.0
//
// Its types are the sections in [plugins.configured.types]; run() reports the section's content.
//   [plugins.configured]
//   bad = "why"         is refused with this
//   more = ["a", "b"]   further types
//   diary = "FILE"      gets a line for each object that is made or destroyed
#include <allot/plugin.hpp>
#include <fstream>
#include <map>
#include <stdexcept>

namespace {

class Configured : public allot::Handler {
 public:
  static std::vector<std::string> types(const allot::Config& config) {
    if (!config.get("bad").empty()) throw std::runtime_error(config.get("bad"));
    std::vector<std::string> all = config.section("types").names();
    for (const std::string& type : config.list("more")) all.push_back(type);
    return all;
  }

  explicit Configured(const allot::Config& config) : diary_(config.get("diary")) {
    for (const std::string& type : types(config)) {
      const allot::Config own = config.section("types").section(type);
      std::string& text = texts_[type];
      for (const std::string& name : own.names()) {
        text += name + "=";
        for (const std::string& value : own.list(name)) text += value + ",";
        text += own.section(name).get("inner", "-") + ";";
      }
    }
    write("made");
  }
  Configured(const Configured&) = delete;
  Configured& operator=(const Configured&) = delete;
  ~Configured() override { write("destroyed"); }

  allot::Outcome run(allot::Context& ctx) override {
    return allot::fail(texts_.at(std::string(ctx.type())));
  }

 private:
  void write(const char* line) const {
    if (!diary_.empty()) std::ofstream(diary_, std::ios::app) << line << "\n";
  }
  std::string diary_;
  std::map<std::string, std::string> texts_;
};

ALLOT_CONFIGURED_HANDLER(Configured)

}  // namespace
