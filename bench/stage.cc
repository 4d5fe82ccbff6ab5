// SPDX-License-Identifier: Apache-2.0
#include "bench/stage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "db/from_settings.h"
#include "db/migrate.h"

namespace allot::bench {
namespace {

namespace fs = std::filesystem;

constexpr char kMark[] = "/allot-bench";     // marks the folder of a benchmark
constexpr char kDatabase[] = "allot_bench";  // on a running server
constexpr auto kStartPatience = std::chrono::seconds(60);

fs::path own_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

// In the build all programs are in one folder; in an installation the user commands are in
// `folder`.
std::string program(const std::string& folder, const std::string& name) {
  const fs::path sibling = own_folder() / name;
  return fs::exists(sibling) ? sibling : own_folder() / "../.." / folder / name;
}

void write(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw Error(file + " cannot be written");
}

std::string take_folder(const std::string& name) {
  const fs::path folder = fs::absolute(name).lexically_normal();
  fs::create_directories(folder);
  if (!fs::is_empty(folder) && !fs::exists(folder.string() + kMark)) {
    throw Error(folder.string() + " is not empty and holds no benchmark; name another folder",
                kExitUsage);
  }
  std::ofstream(folder.string() + kMark) << "made by allot bench; may be removed\n";
  return folder;
}

// Locks the folder until closed: of two benchmarks in one folder, one would remove the database of
// the other.
UniqueFd only_one_in(const std::string& folder) {
  UniqueFd mark(open((folder + kMark).c_str(), O_RDONLY | O_CLOEXEC));
  if (flock(mark.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Error("another benchmark runs in " + folder + "; name another folder", kExitUsage);
  }
  return mark;
}

std::string plugins_of_benchmarks() {
  return "[plugins]\nfolder = " + toml_text(own_folder() / "bench") + "\n";
}

std::string fresh_folder() {
  std::string name = fs::temp_directory_path() / "allot-bench-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw Error(name + " cannot be made");
  return name;
}

}  // namespace

std::string shared(const std::string& name) {
  const fs::path sibling = own_folder() / "../share" / name;
  return fs::exists(sibling) ? sibling : own_folder() / "../../share" / name;
}

std::string toml_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

Stage::Stage(const Place& place, const Load& load)
    : folder_(place.socket.empty() ? take_folder(place.embedded) : fresh_folder()), load_(load) {
  fs::remove(log_file());
  if (place.socket.empty()) {
    start_private();
  } else {
    make_database(fs::absolute(place.socket));
  }
}

// Keep the log after a failure, because the message names it.
Stage::~Stage() {
  if (!made_) return;
  try {
    db::Connection(connect_options()).execute(std::string("DROP DATABASE ") + kDatabase);
    if (std::uncaught_exceptions() == 0) fs::remove_all(folder_);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "allot bench: %s is left behind: %s\n", kDatabase, error.what());
  }
}

// Remove an earlier benchmark completely: its queues would have the same numbers, and its runtime
// folder remembers the term of its server (S52).
void Stage::start_private() {
  only_one_ = only_one_in(folder_);
  fs::remove_all(folder_ + "/db");
  fs::remove_all(runtime_dir());
  fs::remove_all(runtime_dir() + "-other");
  write_config("embedded = " + toml_text(folder_ + "/db"));
  config::LoadOptions load_options;
  load_options.file = folder_ + "/allot.toml";
  settings_ = config::load(load_options);
  std::vector<std::string> command{own_folder() / "allot-embedded", folder_ + "/db"};
  if (load_.binary_log) command.emplace_back("--binary-log");
  database_ = std::make_unique<Child>(std::move(command), log_file());
  wait_for_database();
  // The daemon is started several times on the same database.
  write_config("socket = " + toml_text(settings_.database.socket) +
               "\nuser = " + toml_text(settings_.database.user) +
               "\nname = " + toml_text(settings_.database.name));
}

// Creates a private database, because a benchmark empties its tables.
void Stage::make_database(const std::string& socket) {
  db::ConnectOptions root;
  root.socket = socket;
  root.user = "root";
  db::Connection(root).execute(std::string("CREATE DATABASE ") + kDatabase +
                               " CHARACTER SET utf8mb4");
  made_ = true;
  settings_.database.socket = socket;
  settings_.database.user = "root";
  settings_.database.name = kDatabase;
  db::Connection db(connect_options());
  db::migrate(db);
  write_config("socket = " + toml_text(socket) +
               "\nuser = \"root\"\nname = " + toml_text(kDatabase));
}

db::ConnectOptions Stage::connect_options() const {
  auto options = db::from_settings(settings_);
  options.call_timeout = std::chrono::minutes(5);  // one statement copies a table of all tasks
  return options;
}

std::unique_ptr<Child> Stage::start_daemon() const {
  return start_daemon(folder_ + "/allot.toml");
}

std::string Stage::write_config_of_plugins(const std::string& sections) const {
  std::string file = folder_ + "/plugins.toml";
  write(file, common_ + pool(load_.workers) + "[plugins]\nfolder = " + toml_text(plugins_of_all()) +
                  "\n" + sections);
  return file;
}

std::unique_ptr<Child> Stage::start_daemon(const std::string& config_file) const {
  return std::make_unique<Child>(
      std::vector<std::string>{program("sbin", "allotd"), "--config", config_file}, log_file());
}

std::unique_ptr<Child> Stage::start_daemon(const DaemonVariant& variant) const {
  const std::string instance = variant.other_host ? "bench-other" : "bench";
  const std::string file = folder_ + "/variant.toml";
  write(file, common(instance, variant.other_host ? runtime_dir() + "-other" : runtime_dir()) +
                  pool(variant.workers) + plugins_of_benchmarks() + variant.sections);
  return std::make_unique<Child>(
      std::vector<std::string>{program("sbin", "allotd"), "--config", file}, log_file(),
      variant.other_host && geteuid() == 0 ? instance : std::string());
}

std::unique_ptr<Child> Stage::start_gateway(const std::string& name,
                                            const std::string& sections) const {
  const std::string file = folder_ + "/" + name + ".toml";
  write(file, common_ + sections);
  return std::make_unique<Child>(
      std::vector<std::string>{own_folder() / "allot-gateway", "--config", file}, log_file());
}

std::unique_ptr<Child> Stage::start_allot(std::vector<std::string> words) const {
  words.insert(words.begin(), {program("bin", "allot"), "--config", folder_ + "/allot.toml"});
  return std::make_unique<Child>(std::move(words), log_file());
}

std::unique_ptr<Child> Stage::start_floor(std::uint32_t queue_id, std::uint32_t number) const {
  return std::make_unique<Child>(
      std::vector<std::string>{
          own_folder() / "allot-bench-floor", settings_.database.socket, settings_.database.name,
          std::to_string(queue_id), std::to_string(number), std::to_string(load_.workers),
          std::to_string(load_.partition_count()), std::to_string(load_.block)},
      log_file());
}

void Stage::write_config(const std::string& database) {
  database_keys_ = database;
  common_ = common("bench", runtime_dir());
  write(folder_ + "/allot.toml", common_ + pool(load_.workers) + plugins_of_benchmarks());
}

std::string Stage::common(const std::string& instance, const std::string& runtime_dir) const {
  return "# made by allot bench\n[database]\n" + database_keys_ + "\n[daemon]\ninstance = \"" +
         instance + "\"\nruntime_dir = " + toml_text(runtime_dir) +
         "\n[queues.bench]\npartitions = " + std::to_string(load_.partition_count()) +
         "\nblock_size = " + std::to_string(load_.block) + "\nblock_seconds = \"" +
         std::to_string(load_.block_seconds) + "s\"\n";
}

std::string Stage::pool(std::uint32_t workers) const {
  return "[pools.bench]\nsize = " + std::to_string(workers) +
         "\nconcurrency = " + std::to_string(load_.concurrency) +
         (load_.fireworq ? "\nfireworq = true\n" : "\n");
}

// Copies the plugins, because there is a single plugin folder.
std::string Stage::plugins_of_all() const {
  const std::string made = folder_ + "/plugins";
  const fs::path in_build = own_folder() / "../plugins";
  const fs::path theirs =
      fs::exists(in_build / "pipe.so") ? in_build : fs::path(config::Settings{}.plugins.folder);
  fs::remove_all(made);
  fs::create_directory(made);
  for (const char* name : {"exec.so", "http.so", "pipe.so"}) {
    fs::copy_file(theirs / name, fs::path(made) / name);
  }
  fs::copy_file(own_folder() / "bench/noop.so", fs::path(made) / "noop.so");
  return made;
}

void Stage::wait_for_database() {
  const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
  for (;;) {
    try {
      db::Connection db(connect_options());
      db::require_schema(db);
      db::migrate(db);  // also waits until the procedures exist
      return;
    } catch (const Error&) {
      if (!database_->running()) {
        database_->finish();
        throw;  // it ended without reporting a failure
      }
      if (std::chrono::steady_clock::now() > deadline) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace allot::bench
