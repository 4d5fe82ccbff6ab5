<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Handler;

// Records the start of its process.
final class CountsHandler
{
    public function __construct(private \App\Seen $seen)
    {
    }

    public function __invoke(\App\Message\Counts $message): void
    {
        $this->seen->note($message->name, 'ran', (string) $_SERVER['REQUEST_TIME_FLOAT']);
    }
}
