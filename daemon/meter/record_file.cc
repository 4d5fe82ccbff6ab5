// SPDX-License-Identifier: Apache-2.0
#include "meter/record_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/mutant.h"
#include "base/unique_fd.h"
#include "ipc/slot.h"
#include "peer/shared_file.h"
#include "peer/slot_file.h"

namespace allot::meter {
namespace {

constexpr mode_t kFolderMode = 0750;
constexpr mode_t kFileMode = 0640;  // as the slots

std::string folder_in(const std::string& runtime_dir) {
  return runtime_dir + "/meters";
}

// What stands at the head of a record of this version and life.
bool fits(const Record& record, const Life& life) {
  const bool of_life = record.life == life || mutant::removed("meter_life");
  const bool of_layout = record.version == kVersion || mutant::removed("meter_layout");
  return std::memcmp(record.magic, kMagic, sizeof kMagic) == 0 && of_layout &&
         record.size == sizeof(Record) && of_life;
}

Record* map(int fd) {
  return static_cast<Record*>(peer::map_present(fd, 0, sizeof(Record)));
}

Record* map_former(const std::string& path, const Life& life) {
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return nullptr;
  Record* record = map(file.get());
  if (record == nullptr || fits(*record, life)) return record;
  munmap(record, sizeof(Record));
  return nullptr;
}

// Fills it before it has its name, so that readers see whole heads.
Record* make(const std::string& path, const Life& life) {
  const std::string fresh = path + ".new";
  unlink(fresh.c_str());
  const UniqueFd file(
      open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!file.valid() || ftruncate(file.get(), sizeof(Record)) != 0) return nullptr;
  Record* record = map(file.get());
  if (record == nullptr) return nullptr;
  std::memcpy(record->magic, kMagic, sizeof kMagic);
  record->version = kVersion;
  record->size = sizeof(Record);
  record->life = life;
  std::strncpy(record->pairs[kPairs].queue, kOther, kNameSize - 1);
  std::strncpy(record->pairs[kPairs].type, kOther, kNameSize - 1);
  std::strncpy(record->errors[kErrors].queue, kOther, kNameSize - 1);
  std::strncpy(record->errors[kErrors].type, kOther, kNameSize - 1);
  std::strncpy(record->errors[kErrors].group, kOther, kGroupSize - 1);
  if (rename(fresh.c_str(), path.c_str()) == 0) return record;
  munmap(record, sizeof(Record));
  return nullptr;
}

// Reads, and does not map: a mapping ends its reader where the file becomes shorter.
std::unique_ptr<Record> read_record(const std::string& path, const Life& life) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return nullptr;
  auto record = std::make_unique<Record>();
  const ssize_t got = pread(file.get(), static_cast<void*>(record.get()), sizeof(Record), 0);
  return got == static_cast<ssize_t>(sizeof(Record)) && fits(*record, life) ? std::move(record)
                                                                            : nullptr;
}

}  // namespace

std::optional<Life> life_of(int slots) {
  ipc::SlotFileHeader header{};
  if (pread(slots, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
      peer::trouble_with(header) != nullptr) {
    return std::nullopt;
  }
  return Life{header.started_mono_ns, header.supervisor_pid};
}

Record* open_record(const std::string& runtime_dir, std::uint32_t slot, const Life& life) {
  const std::string folder = folder_in(runtime_dir);
  const std::string path = folder + "/" + std::to_string(slot);
  if (Record* former = map_former(path, life)) return former;
  if (mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST) return nullptr;
  return make(path, life);
}

std::vector<std::unique_ptr<Record>> read_records(const std::string& runtime_dir) {
  std::vector<std::unique_ptr<Record>> records;
  const UniqueFd slots(open((runtime_dir + "/slots").c_str(), O_RDONLY | O_CLOEXEC));
  const auto life = slots.valid() ? life_of(slots.get()) : std::nullopt;
  if (!life) return records;
  const std::string folder = folder_in(runtime_dir);
  for (std::uint32_t slot = 0; slot < ipc::kMaxSlots; ++slot) {
    auto record = read_record(folder + "/" + std::to_string(slot), *life);
    if (record) records.push_back(std::move(record));
  }
  return records;
}

}  // namespace allot::meter
