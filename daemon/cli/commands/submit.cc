// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/submit.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/sources/input.h"
#include "cli/sources/known_types.h"
#include "cli/sources/queues.h"
#include "peer/doorbell.h"
#include "queue/submit/owners.h"
#include "queue/submit/submit.h"

namespace allot::cli {
namespace {

std::string payload_of(const SubmitWords& words) {
  if (!words.file && words.payload != "-") return words.payload.value_or("");
  Input input(words.file.value_or("-"));
  std::string payload = input.read_all(queue::kMaxPayload);
  if (payload.size() > queue::kMaxPayload) {
    throw Error(input.name() + ": the most that a payload may have is 16 MiB - 1 (" +
                    std::to_string(queue::kMaxPayload) +
                    " bytes); put the data elsewhere and submit its name",
                kExitBadInput);
  }
  return payload;
}

}  // namespace

void ring_local(const config::Settings& settings,
                const std::map<std::uint32_t, std::size_t>& tasks) {
  try {
    peer::ring_at(config::runtime_dir(settings).c_str(), tasks);
  } catch (const Error&) {
    // The tasks are submitted; a missing board is not the submitter's problem.
  }
}

int submit(const Context& context, const SubmitWords& words) {
  const config::Settings settings = context.settings();
  queue::Submission task;
  task.type = words.type;
  task.payload = payload_of(words);
  task.options = words.options;
  queue::validate(task.type, task.payload, task.options);
  db::Connection db = connect(settings);
  Queues queues(db, settings);
  task.queue = queues.get(words.queue);
  queues.complete(words.queue, task.options);
  const queue::Submitted made = queue::submit(db, {&task, 1}).front();
  if (!made.existed) ring_local(settings, {{task.queue.queue_id, 1}});
  const std::string id = made.id.text();
  KnownTypes known(settings);
  known.submitted(words.queue, words.type);
  known.warn();
  const char* state = queue::name_of(queue::owners(db, {&task, 1}, {&made, 1}).front());
  if (words.json) {
    nlohmann::json told{{"id", id}, {"existed", made.existed}};
    if (state != nullptr) told["state"] = state;
    std::printf("%s\n", told.dump().c_str());
  } else {
    std::printf("%s\n", id.c_str());
    if (made.existed) {
      std::fprintf(stderr,
                   "allot: its unique key is taken by this task (%s): nothing new was submitted\n",
                   state);
    }
  }
  return kExitOk;
}

}  // namespace allot::cli
