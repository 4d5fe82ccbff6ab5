<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Message;

// Goes by a transport of its own.
final class Urgent
{
    public function __construct(public string $name)
    {
    }
}
