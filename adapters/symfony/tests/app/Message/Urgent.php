<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Message;

// Uses its own transport.
final class Urgent
{
    public function __construct(public string $name)
    {
    }
}
