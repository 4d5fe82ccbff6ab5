// SPDX-License-Identifier: Apache-2.0
#include "pipe/lines.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "json/base64.h"
#include "json/strict.h"
#include "programs/section.h"

namespace pipe_plugin {
namespace {

using nlohmann::json;
using Kind = Said::Kind;
using std::chrono::microseconds;
using std::chrono::milliseconds;

// {"tasks": [{...}]} is the deepest valid line.
constexpr std::size_t kMaxDepth = 3;

// True for characters that need no escape in a JSON text.
bool is_plain(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kShown = 100;
  return std::string(text.substr(0, kShown)) + (text.size() > kShown ? "..." : "");
}

// A quoted text without escapes; nullopt: any other value.
std::optional<std::string_view> plain_text(std::string_view line, std::size_t& at) {
  if (at >= line.size() || line[at] != '"') return std::nullopt;
  const std::size_t begin = ++at;
  while (at < line.size() && is_plain(line[at])) ++at;
  if (at >= line.size() || line[at] != '"') return std::nullopt;
  return line.substr(begin, at++ - begin);
}

// Fast path for the form of most verdicts: an object of plain texts with at most one space between
// them. Takes a third of the parser's time. null: use the parser.
json plain_object(std::string_view line) {
  std::size_t at = 0;
  const auto passes = [&](char c) {
    if (at >= line.size() || line[at] != c) return false;
    if (++at < line.size() && line[at] == ' ') ++at;
    return true;
  };
  json object;
  if (!passes('{')) return nullptr;
  do {
    const auto name = plain_text(line, at);
    if (!name || !passes(':')) return nullptr;
    const auto value = plain_text(line, at);
    if (!value || object.contains(*name)) return nullptr;
    object.emplace(*name, *value);
  } while (passes(','));
  return passes('}') && at == line.size() ? std::move(object) : nullptr;
}

json parsed(std::string_view line) {
  if (json object = plain_object(line); object.is_object()) return object;
  try {
    json value = allot::as_json::read_strict(line, kMaxDepth);
    if (value.is_object()) return value;
  } catch (const allot::as_json::BadJson& bad) {
    const bool named = !bad.field().empty();
    throw BadLine(named ? bad.what() : "it is " + std::string(bad.what()));
  }
  throw BadLine("not a JSON object");
}

// Takes known fields out of an object, so that misspelt ones remain and are reported. Throws
// BadLine.
class Fields {
 public:
  explicit Fields(json object) : object_(std::move(object)) {}

  std::optional<std::string> text(const char* name) {
    std::optional<json> value = take(name);
    if (!value) return std::nullopt;
    if (!value->is_string()) throw BadLine("'" + std::string(name) + "' must be a string");
    return std::move(value->get_ref<std::string&>());
  }
  std::string needed(const char* name) {
    auto value = text(name);
    if (!value) throw BadLine("'" + std::string(name) + "' is missing");
    return std::move(*value);
  }
  std::optional<milliseconds> duration(const char* name) {
    const auto words = text(name);
    if (!words) return std::nullopt;
    const auto duration = programs::duration_of(*words);
    if (!duration) {
      throw BadLine("'" + std::string(name) + "' is not a time; write \"300ms\", \"30s\", \"5m\"");
    }
    return duration;
  }
  std::optional<allot::Submission::Moment> moment(const char* name) {
    constexpr double kLast = 253'402'300'800;  // the year 10000
    const std::optional<json> value = take(name);
    if (!value) return std::nullopt;
    const double seconds = value->is_number() ? value->get<double>() : -1;
    if (!(seconds > 0 && seconds < kLast)) {
      throw BadLine("'" + std::string(name) + "' must be a number of seconds since 1970");
    }
    return allot::Submission::Moment(microseconds(std::llround(seconds * 1e6)));
  }
  std::optional<std::int64_t> integer(const char* name) {
    const std::optional<json> value = take(name);
    if (!value) return std::nullopt;
    if (!value->is_number_integer()) {
      throw BadLine("'" + std::string(name) + "' must be a whole number");
    }
    return value->get<std::int64_t>();
  }
  bool flag(const char* name) {
    const std::optional<json> value = take(name);
    if (!value) return false;
    if (!value->is_boolean()) throw BadLine("'" + std::string(name) + "' must be true or false");
    return value->get<bool>();
  }
  std::optional<json> take(const char* name) {
    const auto at = object_.find(name);
    if (at == object_.end()) return std::nullopt;
    json value = std::move(*at);
    object_.erase(at);
    return value;
  }
  // The bytes of `payload`, or of `payload_base64`.
  std::optional<std::string> payload() {
    auto plain = text("payload");
    const auto coded = text("payload_base64");
    if (!coded) return plain;
    if (plain) throw BadLine("'payload_base64' and 'payload' exclude each other");
    auto bytes = allot::as_json::from_base64(*coded);
    if (!bytes) throw BadLine("'payload_base64' is not base64");
    return bytes;
  }
  void refuse_others() const {
    if (object_.empty()) return;
    throw BadLine("unknown field '" + shortened(object_.begin().key()) + "'");
  }

 private:
  json object_;
};

std::int32_t verdict_of(const std::string& word) {
  static const std::map<std::string_view, std::int32_t> kWords = {
      {"success", ALLOT_SUCCESS}, {"retry", ALLOT_RETRY},     {"fail", ALLOT_FAIL},
      {"snooze", ALLOT_SNOOZE},   {"release", ALLOT_RELEASE}, {"exception", ALLOT_EXCEPTION}};
  const auto at = kWords.find(word);
  if (at != kWords.end()) return at->second;
  throw BadLine("unknown verdict '" + shortened(word) +
                "'; known: success, retry, fail, snooze, release, exception");
}

// The common form of a printed exception.
std::string text_of(const std::string& type, const std::string& message) {
  return type.empty() || message.empty() ? type + message : type + ": " + message;
}

// Keeps both ends of a trace that is too long: the innermost frame is the first in some languages,
// and the last in others.
std::string both_ends(std::string trace) {
  constexpr std::size_t kEnd = std::size_t{30} << 10;
  if (trace.size() <= 2 * kEnd) return trace;
  trace.replace(kEnd, trace.size() - 2 * kEnd, "\n...\n");
  return trace;
}

// A retry or failure has a reason, or an error of three optional texts instead, as an exception
// has.
void read_cause(Fields& line, allot::Outcome& verdict) {
  const bool may_have_reason = verdict.kind != ALLOT_EXCEPTION;
  if (auto reason = may_have_reason ? line.text("reason") : std::nullopt) {
    verdict.reason = std::move(*reason);
    return;
  }
  if (may_have_reason && verdict.kind != ALLOT_RETRY && verdict.kind != ALLOT_FAIL) return;
  const std::string type = line.text("class").value_or("");
  verdict.reason = text_of(type, line.text("message").value_or(""));
  verdict.detail = both_ends(line.text("trace").value_or(""));
}

void read_verdict(Fields& line, Said& said) {
  said.verdict.kind = verdict_of(line.needed("verdict"));
  said.last = line.flag("last");
  read_cause(line, said.verdict);
  said.verdict.delay = line.duration("delay");
  if (said.verdict.kind == ALLOT_SNOOZE && !said.verdict.delay) {
    throw BadLine("a snooze needs 'delay'");
  }
}

void read_progress(Fields& line, Said& said) {
  const auto percent = line.integer("percent");
  if (!percent || *percent < 0 || *percent > 100) throw BadLine("'percent' must be 0 to 100");
  said.percent = static_cast<std::uint32_t>(*percent);
  said.text = line.text("word").value_or("");
}

void read_log(Fields& line, Said& said) {
  static const std::map<std::string_view, std::int32_t> kLevels = {{"debug", ALLOT_LOG_DEBUG},
                                                                   {"info", ALLOT_LOG_INFO},
                                                                   {"warn", ALLOT_LOG_WARN},
                                                                   {"error", ALLOT_LOG_ERROR}};
  const std::string word = line.text("level").value_or("info");
  const auto level = kLevels.find(word);
  if (level == kLevels.end()) throw BadLine("unknown level '" + shortened(word) + "'");
  said.level = level->second;
  said.text = line.needed("text");
}

allot::Submission submission_of(json object) {
  if (!object.is_object()) throw BadLine("a task must be an object");
  Fields fields(std::move(object));
  allot::Submission task;
  task.type = fields.needed("type");
  task.payload = fields.payload().value_or("");
  task.queue = fields.text("queue").value_or("");
  const std::int64_t prio = fields.integer("prio").value_or(task.prio);
  if (prio < 0 || prio > 3) throw BadLine("'prio' must be 0 (first) to 3");
  task.prio = static_cast<std::uint32_t>(prio);
  task.delay = fields.duration("delay").value_or(milliseconds(0));
  task.run_at = fields.moment("run_at");
  task.unique_key = fields.text("unique_key");
  if (const auto unique_for = fields.duration("unique_for")) task.unique_for = *unique_for;
  task.partition_key = fields.text("partition_key");
  task.expires_in = fields.duration("expires_in").value_or(milliseconds(0));
  task.expires_at = fields.moment("expires_at");
  const std::int64_t most = fields.integer("max_attempts").value_or(0);
  if (most < 0 || most > 100'000) throw BadLine("'max_attempts' must be 1 to 100000");
  task.max_attempts = static_cast<std::uint32_t>(most);
  task.time_limit = fields.duration("time_limit").value_or(milliseconds(0));
  task.traceparent = fields.text("traceparent").value_or("");
  task.tracestate = fields.text("tracestate").value_or("");
  fields.refuse_others();
  return task;
}

void read_tasks(Fields& line, Said& said) {
  auto tasks = line.take("tasks");
  if (!tasks || !tasks->is_array()) throw BadLine("'tasks' must be an array");
  // An invalid task is reported to the program, which may continue.
  try {
    for (json& task : *tasks) said.tasks.push_back(submission_of(std::move(task)));
  } catch (const BadLine& bad) {
    said.trouble = "task " + std::to_string(said.tasks.size()) + ": " + bad.what();
  }
}

void read_checkpoint(Fields& line, Said& said) {
  auto payload = line.payload();
  if (!payload) throw BadLine("'payload' is missing");
  said.payload = std::move(*payload);
}

void read_hello(Fields& line, Said& /*said*/) {
  const auto protocol = line.integer("protocol");
  if (protocol == kProtocol) return;
  throw BadLine(protocol ? "it speaks protocol " + std::to_string(*protocol) + ", this worker " +
                               std::to_string(kProtocol)
                         : "'protocol' is missing");
}

struct Reader {
  Kind kind;
  void (*read)(Fields& line, Said& said);
};

const Reader& reader_of(const std::string& word) {
  static const std::map<std::string_view, Reader> kReaders = {
      {"hello", {Kind::kHello, &read_hello}},
      {"verdict", {Kind::kVerdict, &read_verdict}},
      {"heartbeat", {Kind::kHeartbeat, [](Fields&, Said&) {}}},
      {"progress", {Kind::kProgress, &read_progress}},
      {"log", {Kind::kLog, &read_log}},
      {"checkpoint", {Kind::kCheckpoint, &read_checkpoint}},
      {"submit", {Kind::kSubmit, &read_tasks}},
      {"replace_with", {Kind::kReplace, &read_tasks}}};
  const auto at = kReaders.find(word);
  if (at == kReaders.end()) throw BadLine("unknown kind '" + shortened(word) + "'");
  return at->second;
}

// Replaces invalid UTF-8, which a database error may contain.
std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

// Appends a JSON text. Plain texts are the usual case, for which a JSON tree would cost more than
// the rest of the line. Throws json::type_error if the text is not UTF-8.
void add_text(std::string& line, std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_plain)) {
    line.append(1, '"').append(text).append(1, '"');
  } else {
    line += json(text).dump();
  }
}

using Word = std::pair<std::int32_t, const char*>;
constexpr Word kStopWords[] = {{ALLOT_STOP_CANCELLED, "cancelled"},
                               {ALLOT_STOP_TIME_LIMIT, "time_limit"},
                               {ALLOT_STOP_LEASE, "lease_in_doubt"}};
constexpr Word kErrorWords[] = {{ALLOT_LEASE_LOST, "lease_lost"},
                                {ALLOT_BAD_INPUT, "bad_input"},
                                {ALLOT_DATABASE_ERROR, "database_error"},
                                {ALLOT_TRANSACTION_LOST, "transaction_lost"}};

const char* word_in(std::span<const Word> words, std::int32_t code, const char* otherwise) {
  const auto at = std::find_if(words.begin(), words.end(),
                               [code](const Word& word) { return word.first == code; });
  return at == words.end() ? otherwise : at->second;
}

}  // namespace

Said read_line(std::string_view line) {
  Fields fields(parsed(line));
  const Reader& reader = reader_of(fields.needed("kind"));
  Said said;
  said.kind = reader.kind;
  if (said.kind != Kind::kHello) said.id = fields.needed("id");
  reader.read(fields, said);
  fields.refuse_others();
  return said;
}

std::string task_line(const allot::Context& ctx) {
  std::string line;
  line.reserve(ctx.payload().size() + 256);
  line = R"({"kind":"task","id":)";
  add_text(line, ctx.id());
  add_text(line += R"(,"queue":)", ctx.queue());
  add_text(line += R"(,"type":)", ctx.type());
  line += R"(,"attempt":)" + std::to_string(ctx.attempt());
  line += R"(,"max_attempts":)" + std::to_string(ctx.max_attempts());
  const auto left = ctx.time_left();
  if (left != std::chrono::nanoseconds::max()) {
    const auto left_ms = std::chrono::duration_cast<milliseconds>(left).count();
    line += R"(,"time_left_ms":)" + std::to_string(left_ms);
  }
  add_text(line += R"(,"traceparent":)", ctx.traceparent());
  add_text(line += R"(,"tracestate":)", ctx.tracestate());
  const std::size_t head = line.size();
  try {
    add_text(line += R"(,"payload":)", ctx.payload());
  } catch (const json::type_error&) {  // not UTF-8
    line.resize(head);
    add_text(line += R"(,"payload_base64":)", allot::as_json::to_base64(ctx.payload()));
  }
  return line += "}\n";
}

std::string stop_line(std::string_view id, std::int32_t reason) {
  return line_of(
      {{"kind", "stop"}, {"id", id}, {"reason", word_in(kStopWords, reason, "worker_leaves")}});
}

std::string done_line(std::string_view id, const std::vector<std::string>& ids) {
  return line_of({{"kind", "done"}, {"id", id}, {"ids", ids}});
}

std::string refused_line(std::string_view id, const allot::CallError& error) {
  return line_of({{"kind", "refused"},
                  {"id", id},
                  {"code", word_in(kErrorWords, error.code(), "outcome_unknown")},
                  {"number", error.number()},
                  {"reason", error.what()}});
}

}  // namespace pipe_plugin
