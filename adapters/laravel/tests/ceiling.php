<?php
// SPDX-License-Identifier: Apache-2.0
// Calls the empty job repeatedly, like the framework's worker but without a queue. Reports that it
// is ready, and begins at the end of its standard input: the start of PHP is not measured.
$app = require __DIR__ . '/app/bootstrap/app.php';
$app->make(Illuminate\Contracts\Console\Kernel::class)->bootstrap();
$command = serialize(new App\Jobs\Nothing());
$payload = json_encode(['uuid' => '1', 'displayName' => 'Nothing', 'job' => 'Illuminate\Queue\CallQueuedHandler@call',
                        'data' => ['commandName' => App\Jobs\Nothing::class, 'command' => $command]]);
$worker = $app['queue.worker'];
echo "ready\n";
fgets(STDIN);
for ($left = (int) $argv[1]; $left > 0; $left--) {
    $worker->process('sync', new Illuminate\Queue\Jobs\SyncJob($app, $payload, 'sync', 'default'), new Illuminate\Queue\WorkerOptions());
}
