// SPDX-License-Identifier: Apache-2.0
#include "queue/model/compression.h"

#include <zlib.h>
#include <zstd.h>

#include <array>
#include <memory>

#include "base/error.h"
#include "queue/model/task.h"

namespace allot::queue {
namespace {

constexpr std::size_t kStep = 256 << 10;

[[noreturn]] void refuse(const char* how, const std::string& why) {
  throw Error(std::string("it is marked as ") + how + ", but " + why, kExitBadInput);
}

void append(std::string& payload, const char* data, std::size_t size, const char* how) {
  if (payload.size() + size > kMaxPayload) refuse(how, "exceeds 16 MiB - 1 when decompressed");
  payload.append(data, size);
}

std::string from_zstd(const std::string& bytes) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  if (!context) throw Error("no memory to decompress a payload", kExitSoftware);
  std::string payload;
  std::string step(kStep, '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t left = 1;
  while (left != 0 || in.pos < in.size) {
    ZSTD_outBuffer out{step.data(), step.size(), 0};
    left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left) != 0U) refuse("zstd", ZSTD_getErrorName(left));
    append(payload, step.data(), out.pos, "zstd");
    if (left != 0 && in.pos == in.size && out.pos < out.size) refuse("zstd", "is truncated");
  }
  return payload;
}

class Inflate {
 public:
  Inflate() {
    constexpr int kAnyHeader = 32 + MAX_WBITS;  // of gzip or zlib
    if (inflateInit2(&stream_, kAnyHeader) != Z_OK) {
      throw Error("no memory to decompress a payload", kExitSoftware);
    }
  }
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;
  ~Inflate() { inflateEnd(&stream_); }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

std::string from_gzip(std::string& bytes) {
  Inflate inflater;
  z_stream& stream = inflater.stream();
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string payload;
  std::string step(kStep, '\0');
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(step.data());
    stream.avail_out = static_cast<uInt>(step.size());
    status = inflate(&stream, Z_NO_FLUSH);
    append(payload, step.data(), step.size() - stream.avail_out, "gzip");
  }
  if (status == Z_BUF_ERROR) refuse("gzip", "is truncated");
  if (status != Z_STREAM_END) {
    refuse("gzip", stream.msg != nullptr ? stream.msg : "is not");
  }
  // The server's COMPRESS() appends a dot to a stream that ends with a blank.
  const bool dotted = stream.avail_in == 1 && bytes.ends_with(" .");
  if (stream.avail_in != 0 && !dotted) refuse("gzip", "has data after its end");
  return payload;
}

}  // namespace

std::uint32_t flag_of(Compression compression) {
  constexpr std::array<std::uint32_t, 3> kFlags{0, kGzipFlag, kZstdFlag};
  return kFlags.at(static_cast<std::size_t>(compression));
}

std::optional<Compression> compression_of(std::string_view name) {
  if (name == "gzip") return Compression::kGzip;
  if (name == "zstd") return Compression::kZstd;
  return std::nullopt;
}

std::optional<std::string> compress(std::string_view payload) {
  std::string bytes(ZSTD_compressBound(payload.size()), '\0');
  const std::size_t size = ZSTD_compress(bytes.data(), bytes.size(), payload.data(), payload.size(),
                                         ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size) != 0U || size >= payload.size()) return std::nullopt;
  bytes.resize(size);
  return bytes;
}

StoredState::StoredState(std::uint32_t task_flags, std::string_view payload) : payload_(payload) {
  if ((task_flags & (kCompressedFlags | kCompressibleFlag)) == 0) return;
  compressed_ = compress(payload);
  flags_ = compressed_ ? kZstdFlag : kCompressibleFlag;
}

std::string decompress(std::uint32_t flags, std::string bytes) {
  if ((flags & kZstdFlag) != 0) return from_zstd(bytes);
  if ((flags & kGzipFlag) != 0) return from_gzip(bytes);
  return bytes;
}

}  // namespace allot::queue
