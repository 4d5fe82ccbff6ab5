// SPDX-License-Identifier: Apache-2.0
#include "steward/commit_reader.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/mutant.h"
#include "log/log.h"
#include "peer/doorbell.h"
#include "process/finally.h"
#include "thread/deaf_thread.h"

namespace allot::steward {
namespace {

using std::chrono::milliseconds;

constexpr Nanos kServerEvery = kSecond;  // between two checks of the steward's server
// Interval of checks whether a worker sleeps, and time without a sleeper until the log is left: a
// new start costs a connection, and two lines in the server's own log.
constexpr milliseconds kSleeperEvery{20};
constexpr Nanos kBusyFor = kSecond;

constexpr milliseconds kFirstBackoff{500};
constexpr milliseconds kMaxBackoff{60'000};
// A stream of this duration was a good one.
constexpr Nanos kGoodStream = 60 * kSecond;

// Any pool with work wakes its other workers.
constexpr std::size_t kOne = 1;

}  // namespace

CommitReader::CommitReader(process::Session& session, ipc::Board& board, db::ConnectOptions options,
                           std::string database)
    : session_(session),
      board_(board),
      options_(std::move(options)),
      database_(std::move(database)),
      thread_(deaf_thread([this](const std::stop_token& stop) { run(stop); })) {}

CommitReader::~CommitReader() {
  thread_.request_stop();
  const MutexLock held(mutex_);
  interrupt();
}

void CommitReader::interrupt() {
  interrupted_ = true;
  if (stream_ != nullptr) stream_->interrupt();
  changed_.notify_all();
}

bool CommitReader::interrupted() {
  const MutexLock held(mutex_);
  return interrupted_;
}

Chore CommitReader::chore() {
  const auto run = [this](bool /*fresh*/) {
    check_server();
    return kDone;
  };
  return {.name = "wake", .every = kServerEvery, .run_once = run};
}

// After a lost connection the server may be another one, and the former one may still send its
// heartbeats.
void CommitReader::check_server() {
  if (generation_ == session_.generation()) return;
  auto server =
      ask(session_, [this](const db::Connection& db) { return db::to_same_server(options_, db); });
  generation_ = session_.generation();
  const MutexLock held(mutex_);
  server_ = std::move(server);
  followed_ = false;
  interrupt();
}

void CommitReader::run(const std::stop_token& stop) {
  milliseconds backoff = kFirstBackoff;
  MutexLock held(mutex_);
  while (!stop.stop_requested()) {
    if (!server_ || !peer::waits_for(board_, peer::kAnyQueue)) {
      static_cast<void>(changed_.wait_for(mutex_, kSleeperEvery));
      continue;
    }
    interrupted_ = false;
    const db::ConnectOptions server = *server_;
    const Nanos began = boot_ns();
    std::string trouble;
    {
      const MutexUnlock freed(mutex_);
      trouble = follow(server);
    }
    if (interrupted_ || trouble.empty()) continue;
    if (boot_ns() - began > kGoodStream) backoff = kFirstBackoff;
    note(trouble);
    const auto until = std::chrono::steady_clock::now() + backoff;
    while (!interrupted_ && changed_.wait_until(mutex_, until)) {
    }
    backoff = std::min(backoff * 2, kMaxBackoff);
  }
}

void CommitReader::note(const std::string& trouble) {
  followed_ = false;
  if (trouble == noted_) return;
  noted_ = trouble;
  log::warn("wake.lost", {{"error", trouble}, {"fallback", "workers poll"}});
}

std::string CommitReader::follow(const db::ConnectOptions& options) {
  try {
    db::BinlogStream stream(options, database_);
    const Finally left([this] {
      const MutexLock held(mutex_);
      stream_ = nullptr;
    });
    read(stream);
    return {};
  } catch (const db::DbError& error) {
    peer::Ringer(board_).announce({{peer::kAnyQueue, kOne}});
    return error.what();
  }
}

void CommitReader::read(db::BinlogStream& stream) {
  {
    const MutexLock held(mutex_);
    stream_ = &stream;
    if (!followed_) {
      log::info("wake.following", {{"server", stream.where()}, {"server_id", stream.server_id()}});
    }
    followed_ = true;
    noted_.clear();
  }
  if (!mutant::removed("wake_gap")) peer::Ringer(board_).announce({{peer::kAnyQueue, kOne}});
  Nanos slept = boot_ns();
  while (!interrupted()) {
    const auto event = stream.next();
    if (event == db::BinlogStream::Event::kLast) return;
    if (event == db::BinlogStream::Event::kTasks) {
      log::debug("wake.commit", {{"queues", stream.due().size()}});
      peer::Ringer(board_).announce(stream.due());
    }
    const Nanos now = boot_ns();
    if (peer::waits_for(board_, peer::kAnyQueue)) slept = now;
    if (now - slept > kBusyFor) return;
  }
}

}  // namespace allot::steward
