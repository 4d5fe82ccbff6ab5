<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

// Throws until its fourth attempt; with $tries attempts in all.
class Fails extends Job
{
    public $tries = 2;
    public $backoff = 0;

    protected function work()
    {
        throw new \DomainException("no such order: {$this->name}");
    }
}
