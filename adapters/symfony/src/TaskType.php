<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

// The type of a task: the application's name and the class of the message, as in
// `shop.App.Message.SendMail`.
final class TaskType
{
    public const MAX_BYTES = 127;
    private const HASH_BYTES = 8;

    public static function of(string $application, string $class): string
    {
        $type = $application . '.' . preg_replace('/[^A-Za-z0-9._-]/', '_', str_replace('\\', '.', $class));
        if (strlen($type) <= self::MAX_BYTES) {
            return $type;
        }
        // The prefix selects the program, the end identifies the message for people, and the hash
        // distinguishes long names.
        $head = $application . '.' . substr(hash('sha256', $class), 0, self::HASH_BYTES) . '.';
        return $head . substr($type, strlen($head) - self::MAX_BYTES);
    }
}
