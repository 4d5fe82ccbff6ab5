// SPDX-License-Identifier: Apache-2.0
#include "contract/interface.h"

#include <algorithm>
#include <stdexcept>

#include "base/exit_codes.h"

namespace allot::contract {
namespace {

const std::vector<InterfaceKind>& all_interfaces() {
  static const std::vector<InterfaceKind> kAll{
      {"client",
       {Can::kSubmit, Can::kSubmitMany, Can::kFind, Can::kCancel, Can::kShowPayloads,
        Can::kLoseReplies, Can::kHoldLocks},
       open_client},
      {"transaction", {Can::kSubmit, Can::kSubmitMany}, open_transaction},
      {"command",
       {Can::kSubmit, Can::kSubmitMany, Can::kFind, Can::kCancel, Can::kShowPayloads,
        Can::kLoseReplies, Can::kQueues, Can::kDead, Can::kMakeSchedules, Can::kSchedules,
        Can::kChangeLocks},
       open_command},
      {"remote",
       {Can::kSubmit, Can::kSubmitMany, Can::kFind, Can::kCancel, Can::kShowPayloads,
        Can::kLoseReplies, Can::kQueues, Can::kDead, Can::kMakeSchedules, Can::kSchedules,
        Can::kChangeLocks},
       open_remote},
      {"procedure",
       {Can::kSubmit, Can::kSubmitMany, Can::kFind, Can::kCancel, Can::kSchedules, Can::kHoldLocks},
       open_procedure},
      {"http",
       {Can::kSubmit, Can::kSubmitMany, Can::kFind, Can::kCancel, Can::kShowPayloads,
        Can::kLoseReplies, Can::kQueues, Can::kDead, Can::kMakeSchedules, Can::kSchedules,
        Can::kChangeLocks},
       open_http}};
  return kAll;
}

// Options that are numbers in JSON.
bool is_number(const std::string& name) {
  for (const char* each : {"prio", "max_attempts", "max_losses", "compress_above", "catch_up"}) {
    if (name == each) return true;
  }
  return false;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Kind kind) {
  switch (kind) {
    case Kind::kDone:
      return out << "done";
    case Kind::kBadInput:
      return out << "bad input";
    case Kind::kFailed:
      return out << "failed";
    case Kind::kUnavailable:
      return out << "unavailable";
    case Kind::kOutcomeUnknown:
      return out << "outcome unknown";
    case Kind::kOther:
      break;
  }
  return out << "other";
}

void Answer::add(const std::string& id, bool was_there) {
  made.push_back({id, was_there});
  if (was_there) ++existed;
}

std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  out << answer.kind << ": " << answer.text << answer.word << answer.document.dump();
  for (const Made& made : answer.made) out << " " << made.id << (made.existed ? " existed" : "");
  return out;
}

std::ostream& operator<<(std::ostream& out, const InterfaceKind& kind) {
  return out << kind.name;
}

std::vector<InterfaceKind> interfaces_that(Can can) {
  std::vector<InterfaceKind> some;
  for (const InterfaceKind& each : all_interfaces()) {
    if (std::find(each.can.begin(), each.can.end(), can) != each.can.end()) some.push_back(each);
  }
  return some;
}

Kind kind_of_exit(int code) {
  switch (code) {
    case kExitOk:
      return Kind::kDone;
    case kExitUsage:
    case kExitBadInput:
      return Kind::kBadInput;
    case kExitFailure:
      return Kind::kFailed;
    case kExitUnavailable:
      return Kind::kUnavailable;
    case kExitOutcomeUnknown:
      return Kind::kOutcomeUnknown;
    default:
      return Kind::kOther;
  }
}

json fields_of(const std::map<std::string, std::string>& options) {
  json fields = json::object();
  for (const auto& [name, value] : options) {
    const json number = is_number(name) ? json::parse(value, nullptr, false) : json();
    fields[name] = number.is_number() ? number : json(value);
  }
  return fields;
}

json document_of(const Task& task) {
  json document = fields_of(task.options);
  document.update({{"queue", task.queue}, {"type", task.type}, {"payload", task.payload}});
  return document;
}

// By the letters of UTF-8; the JSON library asks the same of each text, and takes seconds for a
// large one without optimization.
bool is_text(const std::string& bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto first = static_cast<unsigned char>(bytes[i]);
    if (first < 0x80) continue;
    const std::size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4 || i + more >= bytes.size()) return false;
    for (std::size_t j = 1; j <= more; ++j) {
      if ((static_cast<unsigned char>(bytes[i + j]) & 0xc0U) != 0x80U) return false;
    }
    const auto second = static_cast<unsigned char>(bytes[i + 1]);
    if (first == 0xed && second >= 0xa0) return false;  // half of a pair
    if ((first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90)) return false;
    i += more;
  }
  return true;
}

void Interface::cannot() {
  throw std::logic_error("this interface cannot do that: see interfaces_that()");
}

Answer with_word_of_cancel(Answer answer) {
  if (answer.kind == Kind::kDone) {
    answer.word = answer.document.at("requested").get<bool>() ? "requested" : "cancelled";
    return answer;
  }
  const std::pair<const char*, const char*> words_of_refusals[] = {
      {"is dead already", "dead"},
      {"the first request stays", "conflict"},
      {"it finished, or never existed", "gone"}};
  for (const auto& [text, word] : words_of_refusals) {
    if (answer.text.find(text) != std::string::npos) answer.word = word;
  }
  return answer;
}

}  // namespace allot::contract
