<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

use Illuminate\Cache\NullStore;
use Illuminate\Cache\Repository;

// For jobs that are ShouldBeUnique: Allot's unique key instead of a lock in the cache. The lock would
// survive a rollback of the transaction that dispatches the job, and refuse the next dispatch.
trait UniqueInAllot
{
    public function uniqueVia()
    {
        return new Repository(new NullStore());  // each lock of it succeeds
    }

    public function allotUniqueKey(): string
    {
        $id = method_exists($this, 'uniqueId') ? $this->uniqueId() : ($this->uniqueId ?? '');
        $key = get_class($this) . ':' . $id;
        return strlen($key) <= 255 ? $key : hash('sha256', $key);
    }
}
