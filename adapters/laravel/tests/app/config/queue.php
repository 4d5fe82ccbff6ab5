<?php
// SPDX-License-Identifier: Apache-2.0
$allot = [
    'driver' => 'allot', 'connection' => 'mysql', 'database' => 'allot', 'application' => 'shop', 'queue' => 'default',
    'tries' => 1, 'backoff' => 0, 'after_commit' => false, 'start_seconds' => 3, 'gateway' => getenv('APP_GATEWAY'),
    'token' => getenv('APP_TOKEN') ?: null,
];
return [
    'default' => getenv('APP_QUEUE') ?: 'allot',
    'connections' => [
        'allot' => $allot,
        'split' => ['connection' => 'split', 'gateway' => null] + $allot,
        'late' => ['after_commit' => true, 'gateway' => null] + $allot,
        'database' => ['driver' => 'database', 'connection' => 'mysql', 'table' => 'jobs', 'queue' => 'default',
                       'retry_after' => 90],
        'sync' => ['driver' => 'sync'],
    ],
    'batching' => ['database' => 'mysql', 'table' => 'job_batches'],
    'failed' => ['driver' => null],
];
