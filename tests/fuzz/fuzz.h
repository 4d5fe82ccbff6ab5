// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// A fuzz target: libFuzzer's own interface. It aborts when what it tests breaks a promise, so that
// a sanitizer or the driver sees it, whatever the bytes are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
