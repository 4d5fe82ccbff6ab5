// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/moving.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/error.h"
#include "cli/sources/documents.h"
#include "cli/words/terminal.h"

namespace allot::cli {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr std::uint32_t kMostOfPage = 10'000;
// Maximum wait for leased partitions: workers release them after block_seconds. New tasks do not
// extend it, or a stuck partition of a busy queue would keep the command running.
constexpr auto kPatience = std::chrono::seconds(5);
constexpr auto kBetweenBatches = std::chrono::milliseconds(100);

json body_of(const Move& move) {
  json body{{"to", move.to}};
  if (!move.type.empty()) body["type"] = move.type;
  return body;
}

// One request after the other, as long as there is a next page. `then` gets each answer.
template <typename Then>
void each_page(const Operations& allot, const Move& move, json body, Then&& then) {
  const std::string path = documents::queue_path(move.from, "/move");
  for (;;) {
    const json page = allot.post(path, body);
    then(page);
    if (page.at("next").is_null()) return;
    body["cursor"] = page.at("next");
  }
}

Moved moved_of(const json& page) {
  return {page.at("moved"), page.at("gone"), page.at("leased"), page.at("unique")};
}

// "2 tasks stay".
std::string stay_text(std::uint64_t tasks) {
  return waiting_text(tasks) + (tasks == 1 ? " stays" : " stay");
}

}  // namespace

std::uint64_t count_waiting(const Operations& allot, const Move& move) {
  json body = body_of(move);
  body["count"] = true;
  std::uint64_t tasks = 0;
  each_page(allot, move, std::move(body),
            [&tasks](const json& page) { tasks += page.at("tasks").get<std::uint64_t>(); });
  return tasks;
}

Moved move_waiting(const Operations& allot, const Move& move, std::uint64_t total) {
  json body = body_of(move);
  if (move.rate > 0) body["limit"] = std::clamp(move.rate / 10, 1U, kMostOfPage);
  Progress progress(total);
  Moved all;
  auto next = steady_clock::now();
  auto until = next;
  std::uint64_t least_leased = UINT64_MAX;
  for (;;) {
    Moved pass;
    each_page(allot, move, body, [&](const json& page) {
      pass.add(moved_of(page));
      const std::uint64_t moved = all.moved + pass.moved;
      progress.show(moved + all.gone + pass.gone + pass.leased, moved);
      if (move.rate == 0) return;
      next += nanoseconds(1'000'000'000ULL * page.at("moved").get<std::uint64_t>() / move.rate);
      std::this_thread::sleep_until(next);
    });
    all.then(pass);
    if (pass.leased < least_leased) {
      least_leased = pass.leased;
      until = steady_clock::now() + kPatience;
    }
    if (pass.leased == 0 || steady_clock::now() >= until) return all;
    std::this_thread::sleep_for(kBetweenBatches);
  }
}

void Moved::then(const Moved& later) {
  moved += later.moved;
  gone += later.gone;
  leased = later.leased;
  unique = later.unique;
}

void Moved::add(const Moved& other) {
  moved += other.moved;
  gone += other.gone;
  leased += other.leased;
  unique += other.unique;
}

void add_moved(json& report, const Moved& moved) {
  report["moved"] = moved.moved;
  report["gone"] = moved.gone;
  report["leased"] = moved.leased;
  report["unique"] = moved.unique;
}

std::string waiting_text(std::uint64_t tasks) {
  return std::to_string(tasks) + " task" + (tasks == 1 ? "" : "s");
}

void print_moved(const Moved& moved) {
  std::printf("moved %s\n", waiting_text(moved.moved).c_str());
  if (moved.gone > 0) {
    std::printf("%s ran in the meantime, or started\n", waiting_text(moved.gone).c_str());
  }
  if (moved.unique > 0) {
    std::printf("%s: a unique key belongs to its queue\n", stay_text(moved.unique).c_str());
  }
}

int end_of_move(const Moved& moved) {
  if (moved.leased == 0) return kExitOk;
  std::fprintf(stderr, "%s %s: workers hold the partitions; pause the queue, or try again\n",
               error_head().c_str(), stay_text(moved.leased).c_str());
  return kExitFailure;
}

}  // namespace allot::cli
