// SPDX-License-Identifier: Apache-2.0
// The command line, over the database and over the gateway.
#include <algorithm>
#include <cctype>
#include <sstream>

#include "contract/interface.h"
#include "support/command_line.h"

namespace allot::contract {
namespace {

using Words = std::vector<std::string>;

// --unique-key=k; an empty value is a word of its own.
Words words_of(const std::map<std::string, std::string>& options) {
  Words words;
  for (const auto& [name, value] : options) {
    std::string dashed = name;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    words.push_back("--" + dashed + (value.empty() ? "" : "=" + value));
    if (value.empty()) words.emplace_back();
  }
  return words;
}

class CommandInterface final : public Interface {
 public:
  explicit CommandInterface(Words first) : first_(std::move(first)) {}

  // A word of the command line has no NUL.
  [[nodiscard]] bool takes(const Task& task) const override {
    const auto has_nul = [](const std::string& text) {
      return text.find('\0') != std::string::npos;
    };
    return !has_nul(task.queue) && !has_nul(task.type) &&
           std::none_of(task.options.begin(), task.options.end(),
                        [&](const auto& option) { return has_nul(option.second); });
  }

  [[nodiscard]] bool takes_many(const Task& task) const override {
    return is_text(task.queue) && is_text(task.type) && is_text(task.payload) &&
           std::all_of(task.options.begin(), task.options.end(),
                       [](const auto& option) { return is_text(option.second); });
  }

  Answer submit(const Task& task) override {
    Words words{"submit"};
    const Words options = words_of(task.options);
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--json", "--", task.queue, task.type, "-"});
    Answer answer = asked(words, task.payload);
    if (answer.kind != Kind::kDone) return answer;
    answer.add(answer.document.at("id"), answer.document.at("existed"));
    return answer;
  }

  Answer submit_many(const std::vector<Task>& tasks) override {
    std::string lines;
    for (const Task& each : tasks) lines += document_of(each).dump() + "\n";
    const support::Finished done = run({"submit", "--ndjson", "-", "--ids"}, lines);
    Answer answer{kind_of_exit(done.status.code), done.err};
    if (answer.kind != Kind::kDone) return answer;
    std::istringstream ids(done.out);
    for (std::string id; std::getline(ids, id);) answer.add(id);
    answer.existed = answer.made.size() - std::stoul(done.err.substr(done.err.find(' ')));
    return answer;
  }

  Answer state(Text id) override {
    Answer answer = asked({"task", "show", "--json", "--", id});
    if (answer.kind == Kind::kDone) answer.word = answer.document.at("state");
    return answer;
  }

  Answer payload(Text id) override {
    const support::Finished done = run({"task", "show", id, "--payload"});
    return {.kind = kind_of_exit(done.status.code), .text = done.err, .word = done.out};
  }

  Answer find(Text queue, Text unique_key) override {
    Words words{"task", "find", queue, "--json"};
    for (const std::string& word : words_of({{"unique_key", unique_key}})) words.push_back(word);
    Answer answer = asked(words);
    if (answer.kind != Kind::kDone) return answer;
    answer.add(answer.document.at("task"), true);
    answer.word = answer.document.at("state");
    return answer;
  }

  Answer cancel(Text id, Text reason, bool as_done) override {
    Words words = words_of({{"reason", reason}});
    words.insert(words.begin(), {"task", "cancel", "--json"});
    if (as_done) words.emplace_back("--as-done");
    words.insert(words.end(), {"--", id});
    return with_word_of_cancel(asked(words));
  }

  Answer pause_queue(Text queue, Text reason) override {
    return asked({"queue", "pause", "--json", "--reason", reason, "--", queue});
  }
  Answer resume_queue(Text queue) override {
    return asked({"queue", "resume", "--json", "--", queue});
  }
  Answer set_rate(Text queue, Text per_second, Text burst) override {
    Words words{"queue", "rate", "--json", "--per-second=" + per_second};
    if (!burst.empty()) words.push_back("--burst=" + burst);
    words.insert(words.end(), {"--", queue});
    return asked(words);
  }
  Answer remove_rate(Text queue) override {
    return asked({"queue", "rate", "--json", "--off", "--", queue});
  }
  Answer resize_queue(Text queue, Text partitions) override {
    return asked({"queue", "resize", "--json", "--", queue, partitions});
  }
  Answer set_max_running(Text queue, Text max_running) override {
    return asked({"queue", "max-running", "--json", "--", queue, max_running});
  }
  Answer queues() override { return asked({"queue", "list", "--json"}); }

  Answer dead_of_group(Text queue, Text group) override {
    return asked({"dead", "list", "--json", "--group", group, "--", queue});
  }
  Answer dead(Text queue) override { return asked({"dead", "list", "--json", "--", queue}); }
  Answer groups(Text queue) override { return asked({"dead", "groups", "--json", "--", queue}); }
  Answer retry(Text id) override { return asked({"dead", "retry", id, "--json"}); }
  Answer discard(Text id) override { return asked({"dead", "discard", id, "--json"}); }

  Answer make_schedule(const Schedule& schedule) override {
    Words words{"schedule", "add", "--json", "--replace"};
    const Words options = words_of(schedule.options);
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(),
                 {"--", schedule.name, schedule.expression, schedule.queue, schedule.type, "-"});
    return asked(words, schedule.payload);
  }
  Answer schedule(Text name) override { return asked({"schedule", "show", "--json", "--", name}); }
  Answer pause_schedule(Text name, Text reason) override {
    return asked({"schedule", "pause", "--json", "--reason", reason, "--", name});
  }
  Answer resume_schedule(Text name) override {
    return asked({"schedule", "resume", "--json", "--", name});
  }
  Answer run_schedule(Text name) override {
    Answer answer = asked({"schedule", "run-now", "--json", "--", name});
    if (answer.kind == Kind::kDone) answer.add(answer.document.at("task"));
    return answer;
  }
  Answer remove_schedule(Text name) override {
    return asked({"schedule", "remove", "--json", "--yes", "--", name});
  }

  Answer lock(Text name) override { return asked({"lock", "show", "--json", "--", name}); }
  Answer resize_lock(Text name, Text slots) override {
    return asked({"lock", "resize", "--json", "--", name, slots});
  }
  Answer break_lock(Text name, Text slot) override {
    Words words{"lock", "break", "--json", "--yes"};
    if (!slot.empty()) words.push_back("--slot=" + slot);
    words.insert(words.end(), {"--", name});
    return asked(words);
  }

 private:
  [[nodiscard]] support::Finished run(const Words& words, const std::string& input = {}) const {
    Words all = first_;
    all.insert(all.end(), words.begin(), words.end());
    return support::run_allot(all, input);
  }

  [[nodiscard]] Answer asked(const Words& words, const std::string& input = {}) const {
    const support::Finished done = run(words, input);
    Answer answer{kind_of_exit(done.status.code), done.err};
    if (answer.kind == Kind::kDone) {
      answer.document = json::parse(done.out);
    } else if (!done.out.empty()) {
      answer = {Kind::kOther, "refused, but printed " + done.out};
    }
    return answer;
  }

  const Words first_;
};

}  // namespace

std::unique_ptr<Interface> open_command(World& world) {
  return std::make_unique<CommandInterface>(Words{"--config", world.config_file()});
}

std::unique_ptr<Interface> open_remote(World& world) {
  return std::make_unique<CommandInterface>(Words{"--url", world.gateway_url()});
}

}  // namespace allot::contract
