<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

// The type of a task: the application's name and the display name of the job, as in
// `shop.App.Jobs.SendMail`.
final class TaskType
{
    public const MAX_BYTES = 127;
    private const HASH_BYTES = 8;

    public static function of(string $application, string $displayName): string
    {
        $name = str_replace(['\\', '::'], '.', $displayName);
        $type = $application . '.' . preg_replace('/[^A-Za-z0-9._-]/', '_', $name);
        if (strlen($type) <= self::MAX_BYTES) {
            return $type;
        }
        // The prefix selects the program, the end identifies the job for people, and the hash
        // distinguishes long names.
        $head = $application . '.' . substr(hash('sha256', $displayName), 0, self::HASH_BYTES) . '.';
        return $head . substr($type, strlen($head) - self::MAX_BYTES);
    }
}
