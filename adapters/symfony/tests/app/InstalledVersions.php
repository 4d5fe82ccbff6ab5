<?php
// SPDX-License-Identifier: Apache-2.0
namespace Composer;

// Debian's packages know nothing of Composer, which the framework asks what else is installed: it looks for classes then.
final class InstalledVersions
{
    public static function isInstalled(): bool
    {
        return false;
    }
}
