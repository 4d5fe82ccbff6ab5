<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

use Illuminate\Cache\NullStore;
use Illuminate\Cache\Repository;

// For ShouldBeUnique jobs: replaces the cache lock by Allot's unique key. The lock would survive a
// rollback of the transaction that dispatches the job, and refuse the next dispatch.
trait UniqueInAllot
{
    public function uniqueVia()
    {
        return new Repository(new NullStore());  // its locks always succeed
    }

    public function allotUniqueKey(): string
    {
        $id = method_exists($this, 'uniqueId') ? $this->uniqueId() : ($this->uniqueId ?? '');
        $key = get_class($this) . ':' . $id;
        return strlen($key) <= 255 ? $key : hash('sha256', $key);
    }
}
