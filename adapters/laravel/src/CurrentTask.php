<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

// The job that this process runs, if any: a payload with its id that is enqueued while it runs is
// the same task once more.
final class CurrentTask
{
    private ?AllotJob $job = null;

    public function begin(AllotJob $job): void
    {
        $this->job = $job;
    }

    public function end(): void
    {
        $this->job = null;
    }

    public function is($uuid): bool
    {
        return $this->job !== null && $this->job->uuid() === $uuid;
    }

    public function job(): AllotJob
    {
        return $this->job;
    }
}
