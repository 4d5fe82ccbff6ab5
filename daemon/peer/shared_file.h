// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace allot::peer {

// Maps a part of a file for reading and writing, with all of its pages. nullptr, with errno, where
// one of them cannot be had: the file is too short, or was never written there and its file system
// is full. A mapping without its pages ends whoever touches it by SIGBUS; whoever may write the
// file can still take them away later, by making it shorter.
void* map_present(int fd, std::size_t offset, std::size_t size);

}  // namespace allot::peer
