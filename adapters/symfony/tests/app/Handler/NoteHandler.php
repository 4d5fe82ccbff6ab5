<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Handler;

final class NoteHandler
{
    public function __construct(private \App\Seen $seen)
    {
    }

    public function __invoke(\App\Message\Note $message): void
    {
        $this->seen->note($message->name, 'ran', $this->seen->transport);
    }
}
