<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

// A job with a model.
class Ship extends Job
{
    public $tries = 2;

    public function __construct(string $name, public \App\Order $order)
    {
        parent::__construct($name);
    }

    protected function work()
    {
    }
}
