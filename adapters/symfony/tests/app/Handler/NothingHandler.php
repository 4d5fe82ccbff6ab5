<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Handler;

final class NothingHandler
{
    public function __invoke(\App\Message\Nothing $message): void
    {
    }
}
