<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Handler;

// Notes when its process was started.
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
