// SPDX-License-Identifier: Apache-2.0
// Requests of Fireworq clients: a path up to the first line break, and a body behind it. Whatever
// it is, it is read or refused; what is read comes back from what is stored.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "fuzz/fuzz.h"
#include "gateway/fireworq/answer.h"
#include "gateway/fireworq/body.h"
#include "gateway/fireworq/json_text.h"
#include "gateway/fireworq/objects.h"
#include "gateway/fireworq/path.h"

namespace {

namespace fireworq = allot::gateway::fireworq;

void expect(bool promise) {
  if (!promise) std::abort();
}

void look_at_path(std::string_view path) {
  const fireworq::Target target = fireworq::target_of(path);
  // One move is enough.
  if (target.place == fireworq::Place::kMoved) {
    expect(fireworq::target_of(target.moved).place != fireworq::Place::kMoved);
  }
  static_cast<void>(fireworq::list_ask(path));
  static_cast<void>(fireworq::result_of(path));
}

void look_at_body(std::string_view body) {
  // Another reader that is as strict, but for what it makes of numbers, of depth, and of a NUL,
  // which is its end.
  if (body.find('\0') == std::string_view::npos && body.size() < fireworq::kMostDepth &&
      nlohmann::json::accept(body)) {
    expect(fireworq::is_json(body));
  }
  try {
    static_cast<void>(fireworq::read_queue(body, "q", {}));
  } catch (const fireworq::Refused&) {
  }
  try {
    const fireworq::PushedJob job = fireworq::read_job(body, "c");
    expect(fireworq::is_json(job.shown));
    const std::string stored = fireworq::stored(job);
    expect(stored.find('\n') == stored.size() - job.payload.size() - 1);
    const fireworq::StoredJob back = fireworq::read_stored(stored);
    expect(back.fields.url == job.fields.url);
    expect(back.fields.max_retries == job.fields.max_retries);
    expect(back.payload == job.payload);
    allot::queue::Job task;
    task.payload = stored;
    expect(nlohmann::json::accept(fireworq::failed_object(task)) || !job.payload.empty());
  } catch (const fireworq::Refused&) {
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), text.size());
  look_at_path(text.substr(0, line));
  look_at_body(text.substr(std::min(line + 1, text.size())));
  return 0;
}
