// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace allot::peer {

// mkdir -p; folders that it makes get `mode`. False on error, with the errno of the first that
// failed.
bool make_folders(const char* path, unsigned mode);

}  // namespace allot::peer
