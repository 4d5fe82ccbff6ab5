<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Message;

// A test message is identified by its name.
abstract class Message
{
    public function __construct(public string $name = 'message')
    {
    }
}
