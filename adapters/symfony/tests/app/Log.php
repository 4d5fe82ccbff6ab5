<?php
// SPDX-License-Identifier: Apache-2.0
namespace App;

// Writes the log of the application to a file.
final class Log extends \Psr\Log\AbstractLogger
{
    public function log($level, $message, array $context = []): void
    {
        $texts = array_filter($context, fn ($value) => is_scalar($value));
        $line = "$level: $message " . json_encode($texts) . "\n";
        file_put_contents(getenv('APP_WORK') . '/symfony.log', $line, FILE_APPEND);
    }
}
