<?php
// SPDX-License-Identifier: Apache-2.0
namespace Composer;

// Debian's packages do not include Composer, which the framework asks for installed packages. With
// this replacement it searches for classes.
final class InstalledVersions
{
    public static function isInstalled(): bool
    {
        return false;
    }
}
