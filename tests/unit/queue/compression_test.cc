// SPDX-License-Identifier: Apache-2.0
#include "queue/model/compression.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "base/error.h"
#include "queue/model/task.h"

namespace allot::queue {
namespace {

// With the header of gzip, or of zlib.
std::string deflated(const std::string& payload, bool gzip) {
  z_stream stream{};
  EXPECT_EQ(
      deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + (gzip ? 16 : 0), 8, Z_DEFAULT_STRATEGY),
      Z_OK);
  std::string bytes(deflateBound(&stream, payload.size()) + 32, '\0');
  std::string from = payload;
  stream.next_in = reinterpret_cast<Bytef*>(from.data());
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

std::string refusal(std::uint32_t flags, const std::string& bytes) {
  try {
    return "no refusal, but " + std::to_string(decompress(flags, bytes).size()) + " bytes";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Compression, CompressedPayloadIsRestored) {
  for (const std::size_t size : {std::size_t{200}, std::size_t{1'000'000}, kMaxPayload}) {
    std::string payload;
    while (payload.size() < size) payload += "line " + std::to_string(payload.size()) + "\n";
    payload.resize(size);
    const auto bytes = compress(payload);
    ASSERT_TRUE(bytes);
    EXPECT_LT(bytes->size(), size);
    EXPECT_EQ(decompress(kZstdFlag, *bytes), payload);
    EXPECT_EQ(decompress(kGzipFlag, deflated(payload, true)), payload);
    EXPECT_EQ(decompress(kGzipFlag, deflated(payload, false)), payload);
  }
  EXPECT_EQ(decompress(kUniqueFlag, "plain"), "plain");
}

TEST(Compression, IncompressiblePayloadIsUnchanged) {
  EXPECT_FALSE(compress(""));
  EXPECT_FALSE(compress("short"));
}

TEST(Compression, DamagedPayloadIsRefusedWithAReason) {
  const std::string payload(100'000, 'x');
  const std::string zstd = *compress(payload);
  const std::string gzip = deflated(payload, true);
  EXPECT_NE(refusal(kZstdFlag, "rubbish that is long enough").find("marked as zstd, but"),
            std::string::npos);
  EXPECT_NE(refusal(kGzipFlag, "rubbish").find("marked as gzip, but"), std::string::npos);
  for (std::size_t size = 0; size < zstd.size(); ++size) {
    EXPECT_NE(refusal(kZstdFlag, zstd.substr(0, size)).find("is truncated"), std::string::npos)
        << size << refusal(kZstdFlag, zstd.substr(0, size));
  }
  for (std::size_t size = 0; size < gzip.size(); size += 7) {
    EXPECT_NE(refusal(kGzipFlag, gzip.substr(0, size)).find("is truncated"), std::string::npos)
        << size << refusal(kGzipFlag, gzip.substr(0, size));
  }
  EXPECT_NE(refusal(kGzipFlag, gzip + ".").find("after its end"), std::string::npos);
  EXPECT_NE(refusal(kGzipFlag, gzip + "x").find("after its end"), std::string::npos);
}

// A few bytes that would decompress to more than the available memory.
TEST(Compression, ABombIsRefused) {
  const std::string payload(kMaxPayload + 1, 'x');
  EXPECT_NE(refusal(kZstdFlag, *compress(payload)).find("exceeds 16 MiB"), std::string::npos);
  EXPECT_NE(refusal(kGzipFlag, deflated(payload, true)).find("exceeds 16 MiB"), std::string::npos);
}

}  // namespace
}  // namespace allot::queue
