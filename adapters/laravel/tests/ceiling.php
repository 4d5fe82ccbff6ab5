<?php
// SPDX-License-Identifier: Apache-2.0
// Calls the empty job that often, as the framework's worker does but without a queue. It begins once its standard
// input ends, and says before that it is ready: the start of PHP is not measured.
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
