<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

// The job that this process runs, if any. A payload with its id that is enqueued in the meantime is
// a repetition of the same task.
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
