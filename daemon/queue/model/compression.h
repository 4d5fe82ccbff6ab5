// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "queue/model/submit_options.h"

namespace allot::queue {

// The bits of a task's flags that name the compression.
inline constexpr std::uint32_t kGzipFlag = 4;
inline constexpr std::uint32_t kZstdFlag = 8;
inline constexpr std::uint32_t kCompressedFlags = kGzipFlag | kZstdFlag;
// The bit of a task that was compressed and has an uncompressed checkpoint: compression may save
// bytes for the next one.
inline constexpr std::uint32_t kCompressibleFlag = 16;
[[nodiscard]] std::uint32_t flag_of(Compression compression);

// "gzip" or "zstd"; nullopt for any other word.
[[nodiscard]] std::optional<Compression> compression_of(std::string_view name);

// Compresses with zstd; nullopt if that saves nothing.
[[nodiscard]] std::optional<std::string> compress(std::string_view payload);

// A checkpoint as stored: compressed if the payload of its task was, and if that saves bytes.
class StoredState {
 public:
  StoredState(std::uint32_t task_flags, std::string_view payload);
  [[nodiscard]] std::string_view bytes() const { return compressed_ ? *compressed_ : payload_; }
  [[nodiscard]] std::uint32_t flags() const { return flags_; }

 private:
  std::string_view payload_;
  std::optional<std::string> compressed_;
  std::uint32_t flags_ = 0;
};

// The uncompressed bytes, by the flags of their task. Gzip may also be a zlib stream. Throws
// Error(kExitBadInput) if they are damaged, cut off, or larger than a payload may be.
[[nodiscard]] std::string decompress(std::uint32_t flags, std::string bytes);

}  // namespace allot::queue
