<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Handler;

final class FirstOfBothHandler
{
    public function __construct(private \App\Seen $seen)
    {
    }

    public function __invoke(\App\Message\Both $message): void
    {
        $this->seen->note($message->name, 'first');
    }
}
