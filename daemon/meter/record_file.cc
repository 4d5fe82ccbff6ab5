// SPDX-License-Identifier: Apache-2.0
#include "meter/record_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <type_traits>

#include "base/fixed_text.h"
#include "base/mutant.h"
#include "base/posix.h"
#include "base/unique_fd.h"
#include "ipc/slot.h"
#include "peer/shared_file.h"
#include "peer/slot_file.h"

namespace allot::meter {
namespace {

constexpr mode_t kFolderMode = 0750;
constexpr mode_t kFileMode = 0640;  // as for the slots

std::string folder_in(const std::string& runtime_dir) {
  return runtime_dir + "/meters";
}

// Expected head of a record of this program and this run.
template <class AnyRecord>
Head head_of(const SupervisorRun& run) {
  constexpr bool of_slot = std::is_same_v<AnyRecord, Record>;
  Head head{{}, of_slot ? kVersion : kRequestVersion, sizeof(AnyRecord), run};
  std::memcpy(head.magic, of_slot ? kMagic : kRequestMagic, sizeof head.magic);
  return head;
}

template <class AnyRecord>
bool fits(const AnyRecord& record, const SupervisorRun& run) {
  const Head wanted = head_of<AnyRecord>(run);
  const bool of_run = record.head.run == run || mutant::removed("meter_run");
  const bool of_layout = record.head.version == wanted.version || mutant::removed("meter_layout");
  return std::memcmp(record.head.magic, wanted.magic, sizeof wanted.magic) == 0 && of_layout &&
         record.head.size == wanted.size && of_run;
}

// The bytes of the record are all zero.
void begin(RequestRecord& record, const SupervisorRun& run) {
  record.head = head_of<RequestRecord>(run);
}
void begin(Record& record, const SupervisorRun& run) {
  record.head = head_of<Record>(run);
  copy_text(record.pairs[kPlaces].queue, kOther);
  copy_text(record.pairs[kPlaces].type, kOther);
  copy_text(record.errors[kErrors].queue, kOther);
  copy_text(record.errors[kErrors].type, kOther);
  copy_text(record.errors[kErrors].group, kOther);
}

template <class AnyRecord>
AnyRecord* map(int fd) {
  return static_cast<AnyRecord*>(peer::map_present(fd, 0, sizeof(AnyRecord)));
}

template <class AnyRecord>
AnyRecord* map_former(const std::string& path, const SupervisorRun& run) {
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return nullptr;
  auto* record = map<AnyRecord>(file.get());
  if (record == nullptr || fits(*record, run)) return record;
  munmap(record, sizeof(AnyRecord));
  return nullptr;
}

// Fills the file before it gets its name, so that readers see whole heads.
template <class AnyRecord>
AnyRecord* make(const std::string& path, const SupervisorRun& run) {
  const std::string fresh = path + ".new";
  unlink(fresh.c_str());
  const UniqueFd file(
      open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!file.valid() || ftruncate(file.get(), sizeof(AnyRecord)) != 0) return nullptr;
  auto* record = map<AnyRecord>(file.get());
  if (record == nullptr) return nullptr;
  begin(*record, run);
  if (rename(fresh.c_str(), path.c_str()) == 0) return record;
  munmap(record, sizeof(AnyRecord));
  return nullptr;
}

template <class AnyRecord>
AnyRecord* open_or_make(const std::string& runtime_dir, const std::string& name,
                        const SupervisorRun& run) {
  const std::string folder = folder_in(runtime_dir);
  const std::string path = folder + "/" + name;
  if (auto* former = map_former<AnyRecord>(path, run)) return former;
  if (mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST) return nullptr;
  return make<AnyRecord>(path, run);
}

// Reads instead of mapping: a mapping crashes its reader if the file becomes shorter.
std::unique_ptr<Record> read_record(const std::string& path, const SupervisorRun& run) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return nullptr;
  auto record = std::make_unique<Record>();
  const ssize_t got = pread(file.get(), static_cast<void*>(record.get()), sizeof(Record), 0);
  return got == static_cast<ssize_t>(sizeof(Record)) && fits(*record, run) ? std::move(record)
                                                                           : nullptr;
}

}  // namespace

std::optional<SupervisorRun> run_of(int slots) {
  ipc::SlotFileHeader header{};
  if (pread(slots, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
      peer::trouble_with(header) != nullptr) {
    return std::nullopt;
  }
  return SupervisorRun{header.started_mono_ns, header.supervisor_pid};
}

std::optional<SupervisorRun> run_in(const std::string& runtime_dir) {
  const UniqueFd slots(open((runtime_dir + "/slots").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  return slots.valid() ? run_of(slots.get()) : std::nullopt;
}

Record* open_record(const std::string& runtime_dir, std::uint32_t slot, const SupervisorRun& run) {
  return open_or_make<Record>(runtime_dir, std::to_string(slot), run);
}

RequestRecord* open_requests(const std::string& runtime_dir, const SupervisorRun& run) {
  return open_or_make<RequestRecord>(runtime_dir, "gateway", run);
}

RequestRecord* open_requests(int file) {
  // The file belongs to one process, so to one run.
  auto* former = map<RequestRecord>(file);
  if (former != nullptr && fits(*former, {})) return former;
  if (former != nullptr) munmap(former, sizeof(RequestRecord));
  if (ftruncate(file, 0) != 0 || ftruncate(file, sizeof(RequestRecord)) != 0) return nullptr;
  auto* record = map<RequestRecord>(file);
  if (record != nullptr) begin(*record, {});
  return record;
}

std::vector<std::unique_ptr<Record>> read_records(const std::string& runtime_dir) {
  std::vector<std::unique_ptr<Record>> records;
  const auto run = run_in(runtime_dir);
  if (!run) return records;
  const std::string folder = folder_in(runtime_dir);
  for (std::uint32_t slot = 0; slot < ipc::kMaxSlots; ++slot) {
    auto record = read_record(folder + "/" + std::to_string(slot), *run);
    if (record) records.push_back(std::move(record));
  }
  return records;
}

}  // namespace allot::meter
