<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Message;

// Its handler runs the action `act`, until attempt $until (0: always).
class Acts extends Message
{
    public function __construct(string $name, public string $act, public int $until = 0, public string $data = '')
    {
        parent::__construct($name);
    }
}
